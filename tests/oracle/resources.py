#!/usr/bin/env python3
"""Kernels and their resources: `list --kernels` against the independent reader.

list_resources.py compares with cuobjdump -res-usage.

Usage: resources.py [SET...]
"""

import sys

import common
import device

RESERVED = 1024  # in .nv.shared from sm_90 on; ptxas -v leaves it out, cuobjdump does not


def reserved(cubin):
    return RESERVED if cubin.sm >= 90 else 0


def check(report, cuslim, path):
    where = path.name
    images = common.run_json([cuslim, "list", "--kernels", "--format", "json", path])["images"]
    data = device.open_file(path)
    if data[:4] != b"\x7fELF":
        return
    mine = list(device.images(data))
    cubins = [device.Cubin(i.load()) if i.kind == 2 else None for i in mine]
    for image, entry, cubin in zip(images, mine, cubins):
        if cubin:
            check_image(
                report, f"{where} {device.target(entry)} at {entry.offset:#x}", image, cubin
            )


def check_image(report, where, image, cubin):
    ours = {k["name"]: k for k in image["kernels"]}
    theirs = {k.name: k for k in cubin.kernels if k.is_kernel}
    report.equal(where, "kernel names", sorted(n for n in ours if n in theirs), sorted(theirs))
    for name, kernel in theirs.items():
        got = ours.get(name)
        if not got:
            continue
        shared = max(0, kernel.shared - reserved(cubin)) if kernel.shared else 0
        report.equal(
            f"{where} {name}",
            "code, registers, shared, local, constant",
            (
                got["code_bytes"],
                got["registers"],
                got["shared_bytes"],
                got["local_bytes"],
                got["constant_bytes"],
            ),
            (kernel.code_bytes, kernel.registers, shared, kernel.local, kernel.constant),
        )


def main():
    report = common.Report("oracle resources")
    cuslim = common.cuslim()
    common.need(report, cuslim=cuslim, decompression=device.can_decompress())
    for name in common.chosen(sys.argv, ["sample", "bitsandbytes", "xformers", "cupy", "vllm"]):
        paths = common.SETS[name]()
        if not paths:
            report.skip(name)
        for path in paths:
            check(report, cuslim, path)
    report.finish()


main()
