// RECORD: rows tile the text, rewriting without edits changes nothing, and a rewritten row reads
// back.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "format/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool cond) {
    if (!cond) {
        abort();
    }
}

// Gives every path a new hash and size; the result must hold exactly these.
static void check_edit(const struct cs_record *r, uint32_t row) {
    struct cs_record_edit edit = {.path = r->rows.ptr[row].path, .bytes = 123456789};
    struct cs_buf out;
    struct cs_record again;
    memset(edit.sha256, 0xa5, sizeof edit.sha256);
    cs_buf_init(&out, 1u << 24);
    const enum cs_code code = cs_record_rewrite(r, &edit, 1, &out, NULL);
    if (code == CS_OK && !(r->rows.ptr[r->rows.count - 1].faults & CS_RECORD_QUOTES)) {
        require(cs_record_parse(cs_buf_view(&out), &again, NULL) == CS_OK);
        const uint32_t at = cs_record_find(&again, edit.path);
        require(again.rows.count == r->rows.count && at != CS_RECORD_NONE);
        require(again.rows.ptr[at].hash == CS_RECORD_HASH_SHA256);
        require(again.rows.ptr[at].size == edit.bytes);
        require(memcmp(again.rows.ptr[at].sha256, edit.sha256, sizeof edit.sha256) == 0);
        cs_record_close(&again);
    } else {
        require(code == CS_OK || code == CS_CONFLICT);
    }
    cs_buf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct cs_record r;
    struct cs_buf out;
    struct cs_record_faults faults;
    require(cs_record_parse(cs_view_of(data, size), &r, NULL) == CS_OK);
    uint64_t reached = 0;
    for (size_t i = 0; i < r.rows.count; i++) {
        const struct cs_record_row *row = &r.rows.ptr[i];
        require(row->off >= reached && row->bytes > 0 && row->eol_bytes <= row->bytes);
        reached = row->off + row->bytes;
        require((row->faults & CS_RECORD_DUPLICATE) || cs_record_find(&r, row->path) == i);
    }
    require(reached <= size);
    cs_buf_init(&out, 1u << 24);
    require(cs_record_rewrite(&r, NULL, 0, &out, NULL) == CS_OK);
    require(out.len == size && (size == 0 || memcmp(out.ptr, data, size) == 0));
    cs_buf_fini(&out);
    if (r.rows.count > 0) {
        check_edit(&r, 0);
        check_edit(&r, (uint32_t)(r.rows.count / 2));
    }
    require(cs_record_verify(&r, NULL, 0, CS_STR("x"), &faults, NULL) == CS_OK);
    cs_vec_fini(&faults.list);
    cs_record_close(&r);
    return 0;
}
