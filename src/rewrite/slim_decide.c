// Deciding: for every container, which images any device needs, and what each edit changes.
//
// Free edits change no outcome by construction: an image goes only when no device that can load the
// library, known or still to come, ever selects it.  Requested edits (--drop, --for, --ptx, ...)
// are applied first-come, and then every device's selection is compared before and after.

#include "base/mem.h"
#include "format/demangle.h"
#include "model/names.h"
#include "rewrite/slim.h"

enum {
    STUB_BYTES_MAX = 16 * 1024,  // link stubs are 1.4 to 2.4 KB a target
    FIRST_ABI8_ARCH = 100,       // whose cubins had ABI 8 before CUDA 13
    NAMED_KERNELS = 2,           // in the message about a promised device
    NAME_MAX_BYTES = 60,
};

const char *cs_slim_cause_name(enum cs_slim_cause cause) {
    switch (cause) {
    case CS_SLIM_KEPT: return "kept";
    case CS_SLIM_SHADOWED: return "shadowed";
    case CS_SLIM_UNREACHABLE: return "unreachable";
    case CS_SLIM_STUB: return "link-stub";
    case CS_SLIM_FOR: return "not-for-devices";
    case CS_SLIM_TARGET: return "target";
    case CS_SLIM_PTX: return "ptx";
    case CS_SLIM_RELOCATABLE: return "relocatable";
    case CS_SLIM_CAUSE_COUNT: break;
    }
    return "unknown";
}

void cs_slim_decision_fini(struct cs_slim_decision *d) {
    cs_free(d->cause);
    cs_free(d->touched);
    *d = (struct cs_slim_decision){0};
}

void cs_slim_price_fini(struct cs_slim_price *p) {
    cs_arena_fini(&p->arena);
    cs_vec_fini(&p->changes);
    cs_vec_fini(&p->raises);
    *p = (struct cs_slim_price){0};
}

// ---- one container ---------------------------------------------------------------------------

struct view {
    const struct cs_scan *scan;
    const struct cs_slim_options *options;
    const struct cs_container *container;
    struct cs_str member;
    const struct cs_select_image *images;  // of the container
    uint32_t count;
    struct cs_worker *worker;
    uint8_t *cause;                        // of these images
    // Images that are still kept, as selection sees them; see refresh().
    struct cs_select_image *live;
    uint32_t *origin;                      // live index -> image index
    bool *flags;                           // scratch, one a live image
    uint32_t live_count;
};

static struct cs_select_image describe(const struct cs_image *image) {
    // Code version 1.8 is ABI 8: CUDA 13 for chips before Blackwell; for Blackwell it began with
    // 12.8, so that the header does not tell.  1.7 can be any older toolkit.
    const bool abi8 = image->kind == CS_FATBIN_ELF && image->code_minor >= 8 &&
                      image->target.arch < FIRST_ABI8_ARCH;
    return (struct cs_select_image){
        .kind = image->kind,
        .target = image->target,
        .codec = image->codec,
        .bit24 = (image->flags & CS_FATBIN_F_BIT24) != 0,
        .concat = image->part != CS_NONE,
        .ptx_isa_x10 = (uint16_t)image->ptx_isa_x10,
        .toolkit_x10 = abi8 ? 130 : 0,
    };
}

static bool is_ptx(const struct cs_select_image *image) {
    return image->kind == CS_FATBIN_PTX || image->kind == CS_FATBIN_RELPTX;
}

// Kinds whose use we understand; others always stay.
static bool may_drop(const struct cs_image *image) {
    return !image->unknown && (image->kind == CS_FATBIN_ELF || image->kind == CS_FATBIN_PTX ||
                               image->kind == CS_FATBIN_RELPTX);
}

static const struct cs_image *image_at(const struct view *v, uint32_t i) {
    return &v->scan->images.ptr[v->container->first_image + i];
}

static void mark(struct view *v, uint32_t i, enum cs_slim_cause cause) {
    if (v->cause[i] == CS_SLIM_KEPT && may_drop(image_at(v, i))) {
        v->cause[i] = (uint8_t)cause;
    }
}

static enum cs_codec new_codec(const struct cs_slim_options *o, const struct cs_select_image *x) {
    switch (o->recompress) {
    case CS_SLIM_AS_IS: return x->codec;
    case CS_SLIM_TO_NONE: return CS_CODEC_NONE;
    case CS_SLIM_TO_LZ4: return CS_CODEC_LZ4;
    case CS_SLIM_TO_ZSTD:
    case CS_SLIM_TO_CONCAT: return CS_CODEC_ZSTD;
    case CS_SLIM_RAW_TO_LZ4: break;
    }
    return x->codec == CS_CODEC_NONE ? CS_CODEC_LZ4 : x->codec;
}

// Joining entries puts those that cannot be joined first, then a group a class (slim_build.c).
static uint32_t place_in_order(const struct view *v, uint32_t i) {
    if (v->options->recompress != CS_SLIM_TO_CONCAT) {
        return 0;
    }
    return cs_slim_concat_class(v->scan, v->container->first_image + i);
}

// Makes `live` what the new container would hold now: the images still kept, in their new form and
// order.  Each edit works on what the edits before it left, so that a second run finds nothing
// more.
static void refresh(struct view *v) {
    const struct cs_slim_options *o = v->options;
    v->live_count = 0;
    for (uint32_t place = 0; place < CS_SLIM_CONCAT_CLASSES; place++) {
        for (uint32_t i = 0; i < v->count; i++) {
            if (v->cause[i] != CS_SLIM_KEPT || place_in_order(v, i) != place) {
                continue;
            }
            struct cs_select_image *x = &v->live[v->live_count];
            *x = v->images[i];
            x->codec = new_codec(o, &v->images[i]);
            x->concat = (o->recompress == CS_SLIM_TO_CONCAT && place > 0) ||
                        (x->concat && !o->split_concatenated &&
                         (o->recompress == CS_SLIM_AS_IS || o->recompress == CS_SLIM_RAW_TO_LZ4));
            v->origin[v->live_count++] = i;
        }
    }
}

static bool listed(const struct cs_target *list, uint32_t n, struct cs_target t) {
    for (uint32_t i = 0; i < n; i++) {
        if (cs_target_cmp(list[i], t) == 0) {
            return true;
        }
    }
    return false;
}

static bool device_listed(const struct cs_device *list, uint32_t n, struct cs_device d) {
    for (uint32_t i = 0; i < n; i++) {
        if (cs_device_eq(list[i], d)) {
            return true;
        }
    }
    return false;
}

// The PTX that devices of the future would compile: the highest plain target.  A live index.
static uint32_t newest_ptx(const struct view *v) {
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < v->live_count; i++) {
        const struct cs_select_image *x = &v->live[i];
        if (is_ptx(x) && x->target.suffix == '\0' &&
            (best == UINT32_MAX || x->target.arch > v->live[best].target.arch)) {
            best = i;
        }
    }
    return best;
}

typedef bool in_set(const struct view *v, struct cs_device d);

// Drops what no device of the set selects; with `future`, devices still to come keep the newest
// PTX.
static void drop_unused(struct view *v, in_set *wanted, bool future, enum cs_slim_cause cause) {
    uint32_t devices;
    const struct cs_device_row *table = cs_device_table(&devices);
    refresh(v);
    for (uint32_t i = 0; i < v->live_count; i++) {
        v->flags[i] = false;
    }
    for (uint32_t d = 0; d < devices; d++) {
        if (wanted(v, table[d].device)) {
            const struct cs_selection s = cs_select(v->live, v->live_count, table[d].device, NULL);
            if (s.index != CS_SELECT_NOTHING) {
                v->flags[s.index] = true;
            }
        }
    }
    const uint32_t newest = newest_ptx(v);
    if (future && newest != UINT32_MAX) {
        v->flags[newest] = true;
    }
    for (uint32_t i = 0; i < v->live_count; i++) {
        if (!v->flags[i]) {
            mark(v, v->origin[i], cause);
        }
    }
}

static bool loads(const struct view *v, struct cs_device d) {
    return cs_reach_has(v->options->reach, v->member, d);
}

static bool loads_and_asked(const struct view *v, struct cs_device d) {
    return loads(v, d) && device_listed(v->options->devices, v->options->device_count, d);
}

static void drop_ptx(struct view *v) {
    if (v->options->ptx == CS_SLIM_PTX_KEEP) {
        return;
    }
    refresh(v);
    const uint32_t newest = v->options->ptx == CS_SLIM_PTX_NEWEST ? newest_ptx(v) : UINT32_MAX;
    for (uint32_t i = 0; i < v->live_count; i++) {
        if (is_ptx(&v->live[i]) && i != newest) {
            mark(v, v->origin[i], CS_SLIM_PTX);
        }
    }
}

static void requested_edits(struct view *v) {
    const struct cs_slim_options *o = v->options;
    for (uint32_t i = 0; i < v->count; i++) {
        const struct cs_target t = v->images[i].target;
        if (listed(o->drop, o->drop_count, t) ||
            (o->keep_count && !listed(o->keep, o->keep_count, t))) {
            mark(v, i, CS_SLIM_TARGET);
        }
    }
    drop_ptx(v);
    if (o->device_count) {
        drop_unused(v, loads_and_asked, false, CS_SLIM_FOR);
    }
}

static void free_edits(struct view *v) {
    if (cs_reach_routed(v->options->reach, v->member)) {
        drop_unused(v, loads, cs_reach_open(v->options->reach, v->member), CS_SLIM_UNREACHABLE);
    }
    refresh(v);
    cs_select_shadowed(v->live, v->live_count, v->flags);
    for (uint32_t i = 0; i < v->live_count; i++) {
        if (v->flags[i]) {
            mark(v, v->origin[i], CS_SLIM_SHADOWED);
        }
    }
}

// ---- link stubs ------------------------------------------------------------------------------

// nvcc adds one near-empty cubin a target when it links.  No code, no variables: nothing to lose.
static bool image_is_stub(const struct cs_scan *scan, uint32_t index, struct cs_worker *w) {
    const struct cs_image *image = &scan->images.ptr[index];
    struct cs_view bytes;
    if (image->kind != CS_FATBIN_ELF || image->image_bytes > STUB_BYTES_MAX ||
        cs_scan_image_bytes(scan, index, w, &bytes, NULL) != CS_OK ||
        cs_cubin_read(bytes, &w->cubin, NULL) != CS_OK) {
        return false;
    }
    const struct cs_cubin *c = &w->cubin;
    if (c->relocatable || c->kernels.count || c->funcs.count || c->code_bytes || c->anomalies) {
        return false;
    }
    for (size_t i = 0; i < c->pieces.count; i++) {
        const uint32_t part = c->pieces.ptr[i].part;
        if (part == CS_PART_GLOBAL || part == CS_PART_CONSTANT || part == CS_PART_OPAQUE) {
            return false;
        }
    }
    return true;
}

static void drop_stub(struct view *v) {
    refresh(v);
    for (uint32_t i = 0; i < v->live_count; i++) {
        if (!image_is_stub(v->scan, v->container->first_image + v->origin[i], v->worker)) {
            return;
        }
    }
    for (uint32_t i = 0; i < v->live_count; i++) {
        mark(v, v->origin[i], CS_SLIM_STUB);
    }
}

// ---- price -----------------------------------------------------------------------------------

static void add_name(struct cs_buf *text, struct cs_str mangled) {
    struct cs_buf full, name;
    cs_buf_init(&full, SIZE_MAX);
    cs_buf_init(&name, SIZE_MAX);
    (void)cs_demangle(mangled, &full);
    cs_name_short(cs_buf_str(&full), &name);
    const size_t n = name.len < NAME_MAX_BYTES ? name.len : NAME_MAX_BYTES;
    cs_buf_printf(text, "%s%.*s", text->len ? ", " : "", (int)n, name.len ? name.ptr : "");
    cs_buf_fini(&full);
    cs_buf_fini(&name);
}

// Names some kernels of an image: what a promised device would no longer have.
static struct cs_str kernel_names(const struct cs_scan *scan, uint32_t index, struct cs_worker *w,
                                  struct cs_arena *arena) {
    struct cs_view bytes;
    struct cs_buf text;
    cs_buf_init(&text, SIZE_MAX);
    uint64_t found = 0;
    const bool sass = scan->images.ptr[index].kind == CS_FATBIN_ELF;
    if (cs_scan_image_bytes(scan, index, w, &bytes, NULL) == CS_OK &&
        (sass ? cs_cubin_read(bytes, &w->cubin, NULL) : cs_ptx_read(bytes, &w->ptx, NULL)) ==
            CS_OK) {
        const size_t count = sass ? w->cubin.kernels.count : w->ptx.kernels.count;
        for (size_t i = 0; i < count; i++) {
            if (sass && !w->cubin.kernels.ptr[i].is_kernel) {
                continue;
            }
            if (found++ < NAMED_KERNELS) {
                add_name(&text, sass ? w->cubin.kernels.ptr[i].name : w->ptx.kernels.ptr[i].name);
            }
        }
    }
    if (found > NAMED_KERNELS) {
        cs_buf_printf(&text, " and %llu more", (unsigned long long)(found - NAMED_KERNELS));
    }
    const struct cs_str names =
        cs_arena_str(arena, text.len ? cs_buf_str(&text) : CS_STR("no kernels that can be read"));
    cs_buf_fini(&text);
    return names;
}

static struct cs_slim_change *find_change(struct cs_slim_price *price,
                                          const struct cs_slim_change *change) {
    for (size_t i = 0; i < price->changes.count; i++) {
        struct cs_slim_change *c = &price->changes.ptr[i];
        if (cs_device_eq(c->device, change->device) && c->before == change->before &&
            c->after == change->after && cs_target_cmp(c->from, change->from) == 0 &&
            cs_target_cmp(c->to, change->to) == 0) {
            return c;
        }
    }
    return NULL;
}

static bool add_change(struct cs_slim_price *price, const struct cs_slim_change *change,
                       struct cs_str member) {
    struct cs_slim_change *c = find_change(price, change);
    if (c) {
        c->containers++;
        return true;
    }
    c = cs_vec_push(&price->changes);
    if (!c) {
        return false;
    }
    *c = *change;
    c->containers = 1;
    c->example = cs_arena_str(&price->arena, member);
    return c->example.ptr != NULL;
}

static void raise(struct cs_driver *floor, const struct cs_selection *s) {
    if (s->floor_cause != CS_FLOOR_NONE && s->floor_cause != CS_FLOOR_CHIP) {
        *floor = cs_driver_max(*floor, s->floor);
    }
}

// Notes that a container needs a newer driver on the device than before.
static bool add_raise(struct cs_slim_price *price, struct cs_device device, struct cs_driver before,
                      struct cs_driver after) {
    struct cs_slim_raise *r = NULL;
    for (size_t i = 0; i < price->raises.count && !r; i++) {
        r = cs_device_eq(price->raises.ptr[i].device, device) ? &price->raises.ptr[i] : NULL;
    }
    if (!r) {
        r = cs_vec_push(&price->raises);
        if (!r) {
            return false;
        }
        *r = (struct cs_slim_raise){.device = device};
    }
    if (cs_driver_cmp(after, r->after) > 0 || !cs_driver_known(r->after)) {
        r->before = before;
        r->after = after;
    }
    r->containers++;
    return true;
}

static struct cs_target target_at(const struct view *v, uint32_t index) {
    return index == CS_SELECT_NOTHING ? (struct cs_target){0} : v->images[index].target;
}

static bool price_device(const struct view *v, struct cs_device device,
                         struct cs_slim_price *price) {
    const struct cs_selection a = cs_select(v->images, v->count, device, NULL);
    const struct cs_selection b = cs_select(v->live, v->live_count, device, NULL);
    raise(&price->floor_before, &a);
    raise(&price->floor_after, &b);
    const uint32_t to = b.index == CS_SELECT_NOTHING ? b.index : v->origin[b.index];
    const bool stub = a.index != CS_SELECT_NOTHING && v->cause[a.index] == CS_SLIM_STUB;
    const bool asked = v->options->device_count == 0 || loads_and_asked(v, device) ||
                       device_listed(v->options->promised, v->options->promised_count, device);
    if (!asked || stub) {
        return true;
    }
    if (b.outcome != CS_OUTCOME_NONE && cs_driver_known(b.floor) &&
        cs_driver_cmp(b.floor, a.floor) > 0 && !add_raise(price, device, a.floor, b.floor)) {
        return false;
    }
    if (a.outcome == b.outcome && a.index == to) {
        return true;
    }
    struct cs_slim_change change = {.device = device, .before = a.outcome, .after = b.outcome,
                                    .from = target_at(v, a.index), .to = target_at(v, to)};
    struct cs_slim_change *c = find_change(price, &change);
    if (c) {
        c->containers++;
        return true;
    }
    if (change.after == CS_OUTCOME_NONE &&
        device_listed(v->options->promised, v->options->promised_count, device)) {
        change.kernels = kernel_names(v->scan, v->container->first_image + a.index, v->worker,
                                      &price->arena);
    }
    return add_change(price, &change, v->member);
}

static bool price_container(struct view *v, struct cs_slim_price *price) {
    uint32_t devices;
    const struct cs_device_row *table = cs_device_table(&devices);
    for (uint32_t i = 0; i < v->count; i++) {
        v->live[i] = v->images[i];
        v->origin[i] = i;
    }
    v->live_count = v->count;
    const uint32_t newest = newest_ptx(v);
    refresh(v);
    for (uint32_t d = 0; d < devices; d++) {
        if (loads(v, table[d].device) && !price_device(v, table[d].device, price)) {
            return false;
        }
    }
    if (newest != UINT32_MAX && v->cause[newest] != CS_SLIM_KEPT && newest_ptx(v) == UINT32_MAX &&
        v->options->device_count == 0 && cs_reach_open(v->options->reach, v->member)) {
        const struct cs_slim_change change = {
            .before = CS_OUTCOME_JIT, .after = CS_OUTCOME_NONE, .from = v->images[newest].target};
        return add_change(price, &change, v->member);
    }
    return true;
}

enum verdict { ALLOWED, NOT_ALLOWED, PROMISED };

static enum verdict judge(const struct cs_slim_change *c, const struct cs_slim_options *o) {
    if (c->device.major == 0) {
        return o->allow_future ? ALLOWED : NOT_ALLOWED;
    }
    if (c->after == CS_OUTCOME_NONE && device_listed(o->promised, o->promised_count, c->device)) {
        return PROMISED;
    }
    return device_listed(o->allow, o->allow_count, c->device) ? ALLOWED : NOT_ALLOWED;
}

static const char *plural(uint32_t n) {
    return n == 1 ? "" : "s";
}

static enum cs_code refuse_change(const struct cs_slim_change *c, enum verdict verdict,
                                  struct cs_err *err) {
    char device[CS_TARGET_TEXT_BYTES] = "future", from[CS_TARGET_TEXT_BYTES] = "nothing",
         to[CS_TARGET_TEXT_BYTES] = "nothing";
    if (c->device.major) {
        cs_device_text(c->device, device);
    }
    if (c->from.arch) {
        cs_target_text(c->from, from);
    }
    if (c->to.arch) {
        cs_target_text(c->to, to);
    }
    if (verdict == PROMISED) {
        return cs_fail(err, CS_CONFLICT,
                       "%s devices, which the configuration promises, would be left with nothing "
                       "in %u container%s (%s before); one in %.*s has %.*s",
                       device, c->containers, plural(c->containers), from, (int)c->example.len,
                       c->example.ptr, (int)c->kernels.len, c->kernels.ptr);
    }
    return cs_fail(err, CS_CONFLICT,
                   "%s devices: %u container%s (one in %.*s) would go from %s (%s) to %s (%s); to "
                   "accept that, say --allow %s",
                   device, c->containers, plural(c->containers), (int)c->example.len,
                   c->example.ptr, from, cs_outcome_name(c->before), to, cs_outcome_name(c->after),
                   device);
}

static enum cs_code floor_check(const struct cs_slim_price *price, const struct cs_slim_options *o,
                                struct cs_err *err) {
    const struct cs_slim_raise *worst = NULL;
    for (size_t i = 0; i < price->raises.count && !o->allow_unknown_floor; i++) {
        const struct cs_slim_raise *r = &price->raises.ptr[i];
        const bool allowed = cs_driver_known(o->allow_floor) &&
                             cs_driver_cmp(r->after, o->allow_floor) <= 0;
        if (!allowed && (!worst || cs_driver_cmp(r->after, worst->after) > 0)) {
            worst = r;
        }
    }
    if (!worst) {
        return CS_OK;
    }
    char before[CS_DRIVER_TEXT_BYTES], after[CS_DRIVER_TEXT_BYTES], device[CS_TARGET_TEXT_BYTES];
    cs_driver_text(worst->before, before);
    cs_driver_text(worst->after, after);
    cs_device_text(worst->device, device);
    return cs_fail(err, CS_CONFLICT,
                   "the driver floor would rise from %s to %s (%u container%s on %s devices); to "
                   "accept that, say --allow-floor %s",
                   before, after, worst->containers, plural(worst->containers), device, after);
}

enum cs_code cs_slim_price_check(const struct cs_slim_price *price,
                                 const struct cs_slim_options *o, struct cs_err *err) {
    for (size_t i = 0; i < price->changes.count; i++) {
        const enum verdict verdict = judge(&price->changes.ptr[i], o);
        if (verdict != ALLOWED) {
            return refuse_change(&price->changes.ptr[i], verdict, err);
        }
    }
    return floor_check(price, o, err);
}

// ---- one file --------------------------------------------------------------------------------

// A relocatable cubin repeats what the device linker already linked, where the same target is
// there.
static bool linked_has(const struct cs_scan *scan, uint32_t member, struct cs_target t) {
    for (size_t i = 0; i < scan->images.count; i++) {
        const struct cs_image *x = &scan->images.ptr[i];
        if (x->member == member && x->container != CS_NONE && x->kind == CS_FATBIN_ELF &&
            scan->containers.ptr[x->container].wrapper == CS_WRAPPER_LINKED &&
            cs_target_cmp(x->target, t) == 0) {
            return true;
        }
    }
    return false;
}

static void drop_relocatable(struct view *v) {
    drop_ptx(v);
    for (uint32_t i = 0; i < v->count; i++) {
        if (!is_ptx(&v->images[i]) &&
            linked_has(v->scan, v->container->member, v->images[i].target)) {
            mark(v, i, CS_SLIM_RELOCATABLE);
        }
    }
}

bool cs_slim_editable(const struct cs_scan *scan, const struct cs_container *c) {
    const enum cs_file_kind kind = scan->members.ptr[c->member].kind;
    return kind == CS_FILE_FATBIN || c->wrapper != CS_WRAPPER_NONE;
}

static enum cs_code decide_container(struct view *v, struct cs_slim_price *price,
                                     struct cs_err *err) {
    const struct cs_slim_options *o = v->options;
    if (v->container->relocatable) {
        if (o->drop_relocatable) {
            drop_relocatable(v);
        }
        return CS_OK;
    }
    requested_edits(v);
    if (o->free_edits) {
        free_edits(v);
        drop_stub(v);
    }
    return price_container(v, price) ? CS_OK : cs_fail(err, CS_NOMEM, "no memory for the price");
}

// Room for the largest container, used again for each.
struct room {
    struct cs_select_image *images, *live;
    uint32_t *origin;
    bool *flags;
};

static bool room_for(struct room *r, const struct cs_scan *scan) {
    size_t most = 1;
    for (size_t c = 0; c < scan->containers.count; c++) {
        const size_t n = scan->containers.ptr[c].image_count;
        most = n > most ? n : most;
    }
    r->images = cs_calloc(most, sizeof *r->images);
    r->live = cs_calloc(most, sizeof *r->live);
    r->origin = cs_calloc(most, sizeof *r->origin);
    r->flags = cs_calloc(most, sizeof *r->flags);
    return r->images && r->live && r->origin && r->flags;
}

static void room_fini(struct room *r) {
    cs_free(r->images);
    cs_free(r->live);
    cs_free(r->origin);
    cs_free(r->flags);
}

static enum cs_code decide_all(const struct cs_scan *scan, const struct cs_slim_options *options,
                               struct cs_worker *w, struct cs_slim_decision *out,
                               struct cs_slim_price *price, struct cs_err *err) {
    struct room room = {0};
    enum cs_code code =
        room_for(&room, scan) ? CS_OK : cs_fail(err, CS_NOMEM, "no memory to decide");
    for (uint32_t c = 0; code == CS_OK && c < scan->containers.count; c++) {
        const struct cs_container *container = &scan->containers.ptr[c];
        if (!cs_slim_editable(scan, container)) {
            continue;
        }
        for (uint32_t i = 0; i < container->image_count; i++) {
            room.images[i] = describe(&scan->images.ptr[container->first_image + i]);
        }
        struct view v = {.scan = scan,
                         .options = options,
                         .container = container,
                         .member = scan->members.ptr[container->member].path,
                         .images = room.images,
                         .count = container->image_count,
                         .worker = w,
                         .cause = out->cause + container->first_image,
                         .live = room.live,
                         .origin = room.origin,
                         .flags = room.flags};
        code = decide_container(&v, price, err);
    }
    room_fini(&room);
    return code;
}

enum cs_code cs_slim_decide(const struct cs_scan *scan, const struct cs_slim_options *options,
                            struct cs_workers *workers, struct cs_slim_decision *out,
                            struct cs_slim_price *price, struct cs_err *err) {
    *out = (struct cs_slim_decision){0};
    out->cause = cs_calloc(scan->images.count, 1);
    out->touched = cs_calloc(scan->containers.count, 1);
    struct cs_worker *w = cs_worker_get(workers);
    enum cs_code code = out->cause && out->touched && w
                            ? decide_all(scan, options, w, out, price, err)
                            : cs_fail(err, CS_NOMEM, "no memory to decide");
    if (w) {
        cs_worker_put(workers, w);
    }
    for (size_t i = 0; code == CS_OK && i < scan->images.count; i++) {
        if (out->cause[i] != CS_SLIM_KEPT) {
            out->dropped++;
            out->cause_bytes[out->cause[i]] += scan->images.ptr[i].file_bytes;
            out->touched[scan->images.ptr[i].container] = 1;
        }
    }
    if (code != CS_OK) {
        cs_slim_decision_fini(out);
    }
    return code;
}
