#!/usr/bin/env python3
"""Published totals of real files, and of the sample, against cuslim size."""

import collections
import zipfile

import common
import device

# member: containers, images, code MiB
SGL = {
    "sgl_kernel/flash_ops.abi3.so": (182, 546, 628.45),
    "sgl_kernel/sm100/common_ops.abi3.so": (74, 444, 492.56),
    "sgl_kernel/sm90/common_ops.abi3.so": (74, 444, 483.06),
    "sgl_kernel/flashmla_ops.abi3.so": (11, 22, 2.93),
}
VLLM = {
    "vllm/vllm_flash_attn/_vllm_fa2_C.abi3.so": (76, 152, 208.47),
    "vllm/vllm_flash_attn/_vllm_fa3_C.abi3.so": (192, 192, 109.57),
    "vllm/_C_stable_libtorch.abi3.so": (118, 512, 485.13),
    "vllm/_moe_C_stable_libtorch.abi3.so": (35, 118, 378.74),
    "vllm/_flashmla_C.abi3.so": (53, 106, 6.55),
    "vllm/_deepselect_C.abi3.so": (78, 78, 8.32),
    "vllm/_flashkda_C.abi3.so": (1, 3, 13.65),
}
# wheel: images, code MiB
WHOLE = {"sgl_kernel-0.3.21": (1502, 1622.40)}


def check_members(report, cuslim, wheel, expected):
    doc = common.run_json(
        [cuslim, "size", "--by", "member", "--top", "all", "--format", "json", wheel]
    )
    rows = {row["key"]["member"]: row for row in doc["rows"]}
    images = collections.defaultdict(set)
    for image in common.run_json([cuslim, "list", "--format", "json", wheel])["images"]:
        images[image["member"]].add(image["container"])
    for member, (containers, count, code) in expected.items():
        row = rows.get(member)
        if not row:
            report.differ(wheel.name, f"no row for {member}")
            continue
        report.equal(member, "images", row["images"], count)
        report.equal(member, "code MiB", round(row["code_bytes"] / 2**20, 2), code)
        report.equal(member, "containers", len(images[member]), containers)
    check_sums(report, doc, wheel)
    return doc


def check_sums(report, doc, wheel):
    """Rows add up to the totals, the totals to the file and to what unzipping gives."""
    totals, rows = doc["totals"], doc["rows"]
    with zipfile.ZipFile(wheel) as z:
        installed = sum(i.file_size for i in z.infolist())
    report.equal(wheel.name, "wheel_bytes", totals["wheel_bytes"], wheel.stat().st_size)
    report.equal(wheel.name, "installed_bytes", totals["installed_bytes"], installed)
    report.equal(
        wheel.name,
        "sum of wheel_bytes",
        sum(r["wheel_bytes"] for r in rows),
        wheel.stat().st_size,
    )
    report.equal(wheel.name, "sum of file_bytes", sum(r["file_bytes"] for r in rows), installed)


def check_sample(report, cuslim):
    doc = common.run_json(
        [cuslim, "size", "--by", "member", "--top", "all", "--format", "json", common.SAMPLE]
    )
    check_sums(report, doc, common.SAMPLE)
    if not device.can_decompress():
        report.skip("decompression for the sample's totals")
        return
    images = code = 0
    for path in [*common.sample().rglob("*.so"), *common.sample().rglob("*.fatbin")]:
        for image in device.images(device.open_file(path)):
            images += 1
            code += device.Cubin(image.load()).code_bytes if image.kind == 2 else 0
    rows = [r for r in doc["rows"] if r["key"]["member"].endswith((".so", ".fatbin"))]
    report.equal("sample", "images", sum(r["images"] for r in rows), images)
    report.equal("sample", "code bytes", sum(r["code_bytes"] for r in rows), code)


def main():
    report = common.Report("oracle totals")
    cuslim = common.cuslim()
    common.need(report, cuslim=cuslim)
    check_sample(report, cuslim)
    for name, expected in (("sgl_kernel-0.3.21", SGL), ("vllm-0.33.0", VLLM)):
        wheel = common.wheel(name)
        if not wheel:
            report.skip(name)
            continue
        doc = check_members(report, cuslim, wheel, expected)
        if name in WHOLE:
            # The published figures cover every .so*, not the static archives beside them.
            images, code = WHOLE[name]
            rows = [r for r in doc["rows"] if ".so" in r["key"]["member"]]
            report.equal(name, "images", sum(r["images"] for r in rows), images)
            code_mib = round(sum(r["code_bytes"] for r in rows) / 2**20, 2)
            report.equal(name, "code MiB", code_mib, code)
    report.finish()


main()
