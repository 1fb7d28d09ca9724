// The table of rules.  Facts behind the texts: docs/format/fatbin.md and docs/format/targets.md.
// Adding a rule: docs/howto/add-a-rule.md.
#include "analysis/rules.h"

const char *cs_severity_name(enum cs_severity severity) {
    switch (severity) {
    case CS_SEVERITY_NOTE: return "note";
    case CS_SEVERITY_WARNING: return "warning";
    case CS_SEVERITY_ERROR: return "error";
    }
    return "error";
}

// C1xx coverage, F2xx driver floor, S3xx storage, B4xx budgets, W5xx wheel, E6xx ELF, U7xx input,
// A8xx arch lists.
static const struct cs_rule rules[] = {
    {
        .id = "C101",
        .slug = "uncovered-device",
        .severity = CS_SEVERITY_ERROR,
        .summary = "a kernel has no image that a promised device can run",
        .cause =
            "Every image of the kernel's container was built for other chips: SASS of another "
            "major version, of a newer minor, or for exactly one other chip (`a`), and no PTX that "
            "the driver could compile. The first launch ends with error 209, \"no kernel image is "
            "available for execution on the device\". Other containers of the same library do "
            "not help: the driver chooses inside one container only.",
        .example = "device 8.9; the container holds sm_75 and sm_90a",
        .cure =
            "Add an arch that serves the device to the sources of this container (8.0 or 8.9 in "
            "the example), add PTX of a target at or below it, or take the device out of "
            "`devices` in the configuration.",
    },
    {
        .id = "C102",
        .slug = "missing-declared-target",
        .severity = CS_SEVERITY_ERROR,
        .summary = "a target of the declared arch list is in no image of a container",
        .cause = "The build was asked for the target, yet the container was made without it: the "
                 "source has an arch list of its own, a flag was overridden by a later one, or the "
                 "object came out of a compiler cache that did not look at the flags.",
        .example = "--declared '8.0 9.0+PTX'; the container holds sm_80 and sm_90",
        .cure = "Look at the compile command of the source (`cuslim arch lint` reads it), or "
                "correct the declared list.",
    },
    {
        .id = "C103",
        .slug = "undeclared-target",
        .severity = CS_SEVERITY_WARNING,
        .summary = "an image was built for a target that nobody asked for",
        .cause = "A build system's default arch, or a list inside a third-party library, added to "
                 "the list of the project. The image costs space and compile time.",
        .example = "--declared '9.0'; a container holds sm_52 as well, nvcc's own default once",
        .cure = "Set the arch of that source explicitly, or declare the target. `cuslim slim "
                "--drop sm_52` takes it out of the finished file.",
    },
    {
        .id = "C104",
        .slug = "single-target-no-ptx",
        .severity = CS_SEVERITY_WARNING,
        .summary = "a container holds SASS of one target and no PTX",
        .cause = "Nothing but the chip it was built for, and newer minors of the same major, can "
                 "run it; with an `a` target nothing but that one chip.",
        .example = "the container holds sm_90a alone",
        .cure = "Build the source with `+PTX`, or name the devices that the package promises, so "
                "that `check` can tell intent from accident.",
    },
    {
        .id = "C105",
        .slug = "narrower-container",
        .severity = CS_SEVERITY_NOTE,
        .summary = "a container serves fewer devices than most of its library",
        .cause = "Its source was built for fewer targets, on purpose (a kernel that needs one "
                 "chip's features) or not. Nothing was declared for it, so nobody can tell.",
        .example = "most containers hold sm_80 and sm_90; that of fp8.cu holds sm_90a alone",
        .cure = "Declare what the source promises ([[tool.cuslim.source]] in the configuration), "
                "or judge with --strict to make it an error.",
    },
    {
        .id = "F201",
        .slug = "ptx-newer-than-driver",
        .severity = CS_SEVERITY_ERROR,
        .summary = "the PTX that would serve a device is too new for the promised driver",
        .cause = "A driver compiles PTX up to the ISA of its own CUDA version. Newer PTX fails at "
                 "load with error 222, \"the provided PTX was compiled with an unsupported "
                 "toolchain\", however old the code in it is.",
        .example = "PTX ISA 9.0 (CUDA 13.0) and driver 550.54.14, which takes 8.4",
        .cure = "Ship SASS for the device, build the PTX with an older toolkit, or promise a newer "
                "driver.",
    },
    {
        .id = "F202",
        .slug = "floor-above-promise",
        .severity = CS_SEVERITY_ERROR,
        .summary = "an image needs a newer driver than the one promised",
        .cause = "The oldest driver that can load an image follows from its compression, from the "
                 "major version of its toolkit, from its PTX ISA and from the chip.",
        .example = "a zstd image and the promise `driver = \"535.54.03\"`: zstd needs 550.54.14",
        .cure = "Recompress (`cuslim slim --recompress lz4`), build with `-Xfatbin -compress-mode="
                "speed`, or promise the newer driver.",
    },
    {
        .id = "F203",
        .slug = "concatenated-image",
        .severity = CS_SEVERITY_WARNING,
        .summary = "images are joined in a concatenated entry that older drivers skip",
        .cause =
            "fatbinary 13.4 and newer can join images before compressing them (`nvcc "
            "--concat`). Driver 580.159.04 passes over such an entry and fails with error 209, "
            "or silently takes PTX beside it.",
        .example = "kind 0x100 with six parts, sm_75 to sm_90a",
        .cure = "`cuslim slim --split-concatenated` makes plain entries of the parts; or promise "
                "a driver that reads them.",
    },
    {
        .id = "F204",
        .slug = "cold-jit",
        .severity = CS_SEVERITY_NOTE,
        .summary = "the first start on a device compiles kernels from PTX",
        .cause = "No SASS in the container runs on the device, so the driver compiles the PTX and "
                 "keeps the result in its cache. What does not fit there is compiled again at "
                 "every start, which users take for a hang.",
        .example = "10.3: 2,104 kernels from 310 MiB of PTX",
        .cure = "Ship SASS for the device, or have users raise CUDA_CACHE_MAXSIZE.",
    },
    {
        .id = "S301",
        .slug = "shadowed-image",
        .severity = CS_SEVERITY_WARNING,
        .summary = "no device ever runs this image, since another one is always preferred",
        .cause = "On 9.0 the driver takes sm_90a over sm_90; a plain image beside an `a` image of "
                 "the same number is dead weight on that chip, and it serves no other as long as "
                 "no newer minor of that major exists.",
        .example = "a container with sm_90 and sm_90a",
        .cure = "Leave the plain target out of the arch list of the source. `cuslim slim` drops "
                "the image; no device sees a difference.",
    },
    {
        .id = "S302",
        .slug = "unreachable-image",
        .severity = CS_SEVERITY_WARNING,
        .summary = "no device that loads this library can run this image",
        .cause = "Routes say which library of the package a device loads. Images for other "
                 "devices are in the file but are never asked for.",
        .example = "sm_80 code in `sm90/ops.so`, which only 9.0 loads",
        .cure = "Build each library for its route only. `cuslim slim` with the routes in the "
                "configuration drops the image.",
    },
    {
        .id = "S303",
        .slug = "uncompressed-image",
        .severity = CS_SEVERITY_WARNING,
        .summary = "device code is stored without compression",
        .cause = "By default nvcc compresses PTX and leaves SASS as it is. The wheel is deflated "
                 "anyway, but the installed library is two to seven times larger than need be.",
        .example = "792.5 MB of raw sm_80, sm_86 and sm_90a code in one library",
        .cure = "Build with `-Xfatbin -compress-all` (and `--compress-mode=size` from nvcc 12.8 "
                "on), for the device-link step too; or `cuslim slim --recompress lz4` or `zstd`.",
    },
    {
        .id = "B401",
        .slug = "over-budget",
        .severity = CS_SEVERITY_ERROR,
        .summary = "a size is above its budget",
        .cause = "The wheel, the installed package or the growth since the last release is larger "
                 "than the configuration, `--budget` or the upload limit of an index allows.",
        .example = "budget wheel = \"300 MiB\"; the wheel has 510.79 MiB",
        .cure = "`cuslim plan` lists what to cut, what each cut saves and what it costs, until the "
                "budget holds.",
    },
    {
        .id = "W501",
        .slug = "record-mismatch",
        .severity = CS_SEVERITY_ERROR,
        .summary = "RECORD and the members of the wheel disagree",
        .cause = "A file was changed, added or removed after RECORD was written: a strip, patchelf "
                 "or zip step without a new RECORD. Strict installers refuse the wheel.",
        .example = "pkg/lib.so: sha256 differs from its row",
        .cure = "Rebuild the wheel with a tool that writes RECORD last, such as `wheel pack`; "
                "`cuslim slim` always writes a right one.",
    },
    {
        .id = "W502",
        .slug = "zip-invalid",
        .severity = CS_SEVERITY_ERROR,
        .summary = "the wheel's ZIP structure is one that an index or an installer refuses",
        .cause =
            "Duplicate names, local and central headers that differ, wrong ZIP64 fields, bytes "
            "after the end record or between members: readers disagree on such files, "
            "which is why package indexes reject them.",
        .example = "two members named pkg/__init__.py",
        .cure = "Pack the wheel again from its unpacked files.",
    },
    {
        .id = "W503",
        .slug = "wheel-metadata",
        .severity = CS_SEVERITY_ERROR,
        .summary = "the wheel's name, its dist-info folder and the files in it do not fit together",
        .cause = "The wheel was renamed, repacked by hand or written by a tool that leaves a part "
                 "out. Installers and indexes find METADATA and RECORD by these names.",
        .example = "the file's name and METADATA disagree on name or version",
        .cure = "Let the build tool, `wheel tags` or `wheel pack` write the wheel.",
    },
    {
        .id = "W504",
        .slug = "tag-mismatch",
        .severity = CS_SEVERITY_ERROR,
        .summary = "a tag of the wheel promises what its libraries do not keep",
        .cause = "Installers choose by tags alone. A library for another machine, a newer glibc or "
                 "one Python only fails when it is imported.",
        .example = "tagged cp310-abi3, but x.cpython-310-x86_64-linux-gnu.so is for one Python "
                   "alone",
        .cure = "Correct the tag (`wheel tags`), or build the library for what the tag says; "
                "auditwheel finds the right platform tag.",
    },
    {
        .id = "W505",
        .slug = "bundled-driver-library",
        .severity = CS_SEVERITY_ERROR,
        .summary = "the wheel holds a library that belongs to the NVIDIA driver",
        .cause = "libcuda.so and libnvidia-*.so talk to the kernel module of exactly their own "
                 "version. auditwheel copies them in when they are not excluded; the stub of the "
                 "toolkit does the same harm.",
        .example = "pkg.libs/libcuda-1a2b3c4d.so.1",
        .cure = "auditwheel repair --exclude libcuda.so.1 (and the others).",
    },
    {
        .id = "E601",
        .slug = "elf-segment-misaligned",
        .severity = CS_SEVERITY_ERROR,
        .summary = "a LOAD segment breaks the rule that offset and address agree modulo p_align",
        .cause = "A tool moved parts of the library without keeping file offset and address in "
                 "step. The loader refuses it: \"ELF load command address/offset not properly "
                 "aligned\".",
        .example = "offset 0x2a1000, address 0x4a1800, alignment 0x1000",
        .cure = "Start again from the library as it was linked, and apply the edits in the order "
                "slim, strip, patchelf.",
    },
    {
        .id = "E602",
        .slug = "dangling-wrapper",
        .severity = CS_SEVERITY_ERROR,
        .summary = "a registration record points at no valid container",
        .cause = "The program hands this record to the CUDA runtime when it starts. If the "
                 "container was moved, cut or overwritten, loading the library fails or crashes.",
        .example = ".nvFatBinSegment+0x18 points at 0x51c0, where no container starts",
        .cure = "Undo the edit that changed `.nv_fatbin`.",
    },
    {
        .id = "E603",
        .slug = "span-over-2gib",
        .severity = CS_SEVERITY_ERROR,
        .summary = "32-bit references must cross 2 GiB or more",
        .cause = "Code reaches its data with signed 32-bit distances. Device code between them "
                 "pushes them apart until the linker reports \"relocation truncated to fit\".",
        .example = ".text to .bss: 2.31 GiB, of which .nv_fatbin 2.02 GiB",
        .cure = "Fewer archs, compressed device code, or a linker script that puts device code "
                "last: `cuslim check --link` shows which arch sets fit and writes the script.",
    },
    {
        .id = "E604",
        .slug = "elf-damaged",
        .severity = CS_SEVERITY_ERROR,
        .summary = "sections, segments or the dynamic section of a library contradict each other",
        .cause = "A tool that edits finished libraries moved bytes and did not update everything "
                 "that points at them; strip after patchelf is the usual pair. Loading the file "
                 "fails, or crashes later.",
        .example = "section .dynstr (offset 0x1f000, address 0x21000) is not where the segments "
                   "say",
        .cure = "Start again from the library as it was linked, and apply the edits in the order "
                "slim, strip, patchelf or auditwheel.",
    },
    {
        .id = "E605",
        .slug = "moved-program-headers",
        .severity = CS_SEVERITY_NOTE,
        .summary = "the program headers are not behind the ELF header",
        .cause = "patchelf moves the table when it needs room for one more segment. Loaders do not "
                 "mind, but GNU strip and objcopy write such a file back broken.",
        .example = "program headers at offset 0x2b1000",
        .cure = "Run strip before patchelf or auditwheel, never after.",
    },
    {
        .id = "E606",
        .slug = "version-need-unmatched",
        .severity = CS_SEVERITY_ERROR,
        .summary = "symbol versions are asked of a library that is not needed",
        .cause = "A needed library was renamed (auditwheel adds a hash to its name) and the table "
                 "of version needs still has the old name. glibc refuses to load the file.",
        .example = "versions are asked of libfoo.so.1, needed is libfoo-5e2f1a.so.1",
        .cure = "Use a patchelf that renames both, or repair the wheel again.",
    },
    {
        .id = "U701",
        .slug = "unsupported-format",
        .severity = CS_SEVERITY_ERROR,
        .summary = "the input is of a kind that is recognised but not read",
        .cause =
            "Windows libraries (PE) keep device code in another layout. Reporting zero kernels "
            "would be wrong, so the input counts as not judged.",
        .example = "pkg/_C.pyd is a Windows library",
        .cure = "Judge the Linux wheel of the same release.",
    },
    {
        .id = "U702",
        .slug = "unreadable",
        .severity = CS_SEVERITY_ERROR,
        .summary = "a file or an image in the input could not be read",
        .cause = "It is damaged, or built in a way this program does not know. Whatever is in it "
                 "was not judged, so the gate fails.",
        .example = "pkg/ops.so: sm_90 of container 3: zstd frame is damaged",
        .cure = "Build or download the file again. If other tools read it, report a bug.",
    },
    {
        .id = "U703",
        .slug = "no-device-code",
        .severity = CS_SEVERITY_NOTE,
        .summary = "the input holds no CUDA device code",
        .cause = "A wheel for CPUs, or a file of another kind. There is nothing to run on a GPU, "
                 "so no coverage gate applies; rules for wheels and ELF files still do.",
        .example = "no CUDA device code in this wheel",
        .cure = "None needed, unless there should be code.",
    },
    {
        .id = "A801",
        .slug = "bad-token",
        .severity = CS_SEVERITY_ERROR,
        .summary = "a word of an arch list names nothing that any nvcc builds",
        .cause = "A typing error, a suffix that the number does not have (8.0a), or a word of "
                 "another notation. Hand-written parsers tend to drop such words, and the wheel "
                 "ships without the code.",
        .example = "\"9.0b\" in `8.0 9.0b`",
        .cure = "Take the nearest valid word that the message names.",
    },
    {
        .id = "A802",
        .slug = "empty-item",
        .severity = CS_SEVERITY_ERROR,
        .summary = "an arch list is empty or has two separators in a row",
        .cause = "A variable that expanded to nothing. torch refuses such a list; other tools take "
                 "an empty list for an unset one and build for their default.",
        .example = "`8.0;;9.0`",
        .cure = "Remove the extra separator, or fix the variable.",
    },
    {
        .id = "A803",
        .slug = "impossible-target",
        .severity = CS_SEVERITY_ERROR,
        .summary = "nvcc refuses this combination of flags",
        .cause = "SASS can be compiled only from PTX of the same number or a lower one; from `a` "
                 "only for that chip, from `f` only for its family; PTX that is kept must be the "
                 "arch compiled to; -code needs -arch=compute_NN.",
        .example = "-gencode arch=compute_90a,code=sm_100",
        .cure = "Write `arch=compute_N,code=sm_N` with the same number and suffix on both sides.",
    },
    {
        .id = "A804",
        .slug = "not-in-toolkit",
        .severity = CS_SEVERITY_ERROR,
        .summary = "the named CUDA toolkit does not build this target",
        .cause = "It is newer than the toolkit, was dropped before it, or has another name there.",
        .example = "7.0 with CUDA 13.0; CUDA 12.9 was the last to build it",
        .cure = "Use another toolkit, or `cuslim arch --toolkit` to have chips renamed.",
    },
    {
        .id = "A805",
        .slug = "contradictory-target",
        .severity = CS_SEVERITY_WARNING,
        .summary = "one word or flag takes back, or competes with, what another says",
        .cause = "Two generators of flags on one command line, or a list that was put together "
                 "from parts. nvcc keeps the last -arch, adds -arch and -gencode up, and builds "
                 "two images of one name when a target comes from two compute numbers.",
        .example = "-arch=sm_80 -arch=sm_90",
        .cure = "Leave one of the two.",
    },
    {
        .id = "A806",
        .slug = "duplicate-target",
        .severity = CS_SEVERITY_WARNING,
        .summary = "a target is asked for twice",
        .cause = "Harmless for nvcc, which builds it once, but a sign that two places set flags.",
        .example = "-gencode arch=compute_80,code=sm_80 in CMAKE_CUDA_FLAGS and from torch",
        .cure = "Find the second place: the findings name the commands.",
    },
    {
        .id = "A807",
        .slug = "re-added-target",
        .severity = CS_SEVERITY_WARNING,
        .summary = "a later group of flags brings a target that the first group left out",
        .cause = "A build filters its list, then another generator on the same command line adds "
                 "its own, because an empty variable counts as unset.",
        .example = "-gencode ...sm_80 -O3 -gencode ...sm_80 -gencode ...sm_70",
        .cure = "Tell the second generator (TORCH_CUDA_ARCH_LIST, CUDAARCHS) the same list.",
    },
    {
        .id = "A808",
        .slug = "renamed-target",
        .severity = CS_SEVERITY_NOTE,
        .summary = "the chip has another name in this CUDA toolkit",
        .cause = "10.1 of CUDA 12.8 and 12.9 is 11.0 from CUDA 13.0 on.",
        .example = "sm_101a is called sm_110a in CUDA 13.0",
        .cure = "None needed; the new name was used.",
    },
    {
        .id = "A809",
        .slug = "changed-target",
        .severity = CS_SEVERITY_NOTE,
        .summary = "the tool that reads the list builds something else than the word says",
        .cause = "FlashInfer gives a plain 9.0 and later a suffix; nvcc 13 keeps plain PTX beside "
                 "-arch=sm_90a.",
        .example = "FLASHINFER_CUDA_ARCH_LIST='9.0' builds 9.0a",
        .cure = "Write the suffix; use -gencode instead of -arch.",
    },
    {
        .id = "A810",
        .slug = "not-read-by-tool",
        .severity = CS_SEVERITY_WARNING,
        .summary = "the word is clear, but the tool that will read it refuses it",
        .cause = "torch 2.11.0 has a table of its own: no `f` targets, no 8.8, 10.1 or 10.7, no "
                 "commas.",
        .example = "TORCH_CUDA_ARCH_LIST='12.0f'",
        .cure = "Give the flags to nvcc directly for this source, or use a newer torch.",
    },
    {
        .id = "A811",
        .slug = "unread-options-file",
        .severity = CS_SEVERITY_WARNING,
        .summary = "the command takes flags from a file that was not looked into",
        .cause = "--options-file may add or replace architectures.",
        .example = "nvcc --options-file flags.rsp x.cu",
        .cure = "Lint the content of the file: `cuslim arch lint \"$(cat flags.rsp)\"`.",
    },
};

const struct cs_rule *cs_rule_table(uint32_t *count) {
    *count = sizeof rules / sizeof rules[0];
    return rules;
}

const struct cs_rule *cs_rule_find(struct cs_str id_or_slug) {
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (cs_str_eq(id_or_slug, cs_str_from(rules[i].id)) ||
            cs_str_eq(id_or_slug, cs_str_from(rules[i].slug))) {
            return &rules[i];
        }
    }
    return NULL;
}
