#!/usr/bin/env python3
"""list --kernels against cuobjdump -res-usage and the independent reader.

Usage: resources.py [SET...]
"""

import re
import sys

import common
import device

RESERVED = 1024  # in .nv.shared from sm_90 on; ptxas -v leaves it out, cuobjdump does not


def usage_blocks(text):
    """One dictionary an image: function -> (registers, stack, shared, constant0)."""
    blocks = []
    for line in text.splitlines():
        if line.startswith("Fatbin ") or line.startswith("\tFatbin "):
            if " elf " in line:
                blocks.append({})
        found = re.match(r"\s*Function (.*):$", line)
        if found:
            name = found.group(1)
        found = re.match(r"\s*REG:(\d+) STACK:(\d+) SHARED:(\d+)(.*)", line)
        if found:
            constant = re.search(r"CONSTANT\[0\]:(\d+)", found.group(4))
            blocks[-1][name] = tuple(int(x) for x in found.group(1, 2, 3)) + (
                int(constant.group(1)) if constant else 0,
            )
    return blocks


def reserved(cubin):
    return RESERVED if cubin.sm >= 90 else 0


def check(report, cuslim, cuobjdump, path):
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
    section = ".nv_fatbin" if any(i.section == ".nv_fatbin" for i in mine) else "__nv_relfatbin"
    code, out, err = common.run([cuobjdump, "-res-usage", path])
    if code:
        report.differ(where, "whole file", "cuobjdump-refuses" if b"Invalid ELF" in err else None)
        return
    blocks = usage_blocks(out.decode())
    listed = [(i, c) for i, e, c in zip(images, mine, cubins) if c and e.section == section]
    report.equal(where, "images with -res-usage", len(listed), len(blocks))
    for (image, cubin), block in zip(listed, blocks):
        for kernel in image["kernels"]:
            if kernel["name"] not in block:
                continue
            registers, _, shared, constant = block[kernel["name"]]
            shared = max(0, shared - reserved(cubin)) if shared else 0
            got = (kernel["registers"], kernel["shared_bytes"], kernel["constant_bytes"])
            report.equal(
                f"{where} {image['target']} {kernel['name']}",
                "registers, shared, constant",
                got,
                (registers, shared, constant),
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
    cuslim, cuobjdump = common.cuslim(), common.cuobjdump()
    common.need(report, cuslim=cuslim, cuobjdump=cuobjdump, decompression=device.can_decompress())
    for name in common.chosen(sys.argv, ["sample", "bitsandbytes", "xformers", "cupy", "vllm"]):
        paths = common.SETS[name]()
        if not paths:
            report.skip(name)
        for path in paths:
            check(report, cuslim, cuobjdump, path)
    report.finish()


main()
