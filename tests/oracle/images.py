#!/usr/bin/env python3
"""Image lists: `list --format json` against the independent reader and what cuobjdump lists.

cuobjdump_list.py compares cuobjdump's text byte for byte.

Usage: images.py [SET...]    sets: see common.SETS
"""

import re
import sys

import common
import device


def parse_blocks(text):
    """cuobjdump's default text as dictionaries; parts of a concatenated entry one by one."""
    blocks, group = [], False
    for raw in text.splitlines():
        line = raw.strip("\t")
        found = re.fullmatch(r"Fatbin (.*) code:", line)
        if found:
            kind = found.group(1)
            group = raw.startswith("\t")
            if kind == "concatenated entry":
                block = {}
                continue
            block = {
                "kind": kind,
                "part": group,
                "compressed": group,
                "identifier": None,
                "options": None,
            }
            blocks.append(block)
        elif " = " in line and blocks:
            key, value = line.split(" = ", 1)
            if key == "arch":
                block["arch"] = value
            elif key == "identifier":
                block["identifier"] = value
            elif key.endswith("Options"):
                block["options"] = value
        elif line == "compressed":
            block["compressed"] = True
    return blocks


def from_blocks(blocks):
    kinds = {
        "elf": "sass",
        "ptx": "ptx",
        "nvvm": "ltoir",
        "relocatable ptx": "ptx",
        "tile ir": "tileir",
    }
    out = []
    for b in blocks:
        kind = kinds.get(b["kind"], "unknown")
        arch = b.get("arch", "")
        out.append((kind, arch[3:], b["compressed"], b["identifier"] or "", b["options"] or ""))
    return out


def from_json(images):
    out = []
    for i in images:
        number = (i["target"] or "").split("_")[-1]
        out.append(
            (
                i["kind"],
                number,
                i["codec"] != "none",
                i.get("identifier") or "",
                i.get("options") or "",
            )
        )
    return out


def from_reader(images):
    return [
        (
            device.KINDS.get(i.kind, "unknown"),
            f"{i.arch}{i.suffix}",
            i.codec != "none",
            i.identifier or "",
            i.options or "",
        )
        for i in images
    ]


def compare(report, where, ours, theirs, who):
    if len(ours) != len(theirs):
        report.differ(where, f"{len(ours)} images, {who} has {len(theirs)}")
    wrong = [n for n, (a, b) in enumerate(zip(ours, theirs)) if a != b]
    for n in wrong:
        report.differ(where, f"image {n}: cuslim {ours[n]}, {who} {theirs[n]}")
    report.ok(min(len(ours), len(theirs)) - len(wrong))


def check_library(report, cuslim, cuobjdump, path):
    where = path.name
    images = common.run_json([cuslim, "list", "--format", "json", path])["images"]
    data = device.open_file(path)
    mine = list(device.images(data)) if data[:4] == b"\x7fELF" or data[:8] == device.MAGIC else []
    compare(report, where, from_json(images), from_reader(mine), "the reader")
    for a, b in zip(images, mine):
        report.equal(where, f"offset of image {b.offset:#x}", a["offset"], b.offset)
        if b.file_bytes is not None:
            report.equal(where, f"file_bytes at {b.offset:#x}", a["file_bytes"], b.file_bytes)
        if b.image_bytes is not None and b.kind != 1:
            report.equal(where, f"image_bytes at {b.offset:#x}", a["image_bytes"], b.image_bytes)
    if not cuobjdump:
        return
    _, text, err = common.run([cuobjdump, path])
    if b"Invalid ELF" in err:
        report.differ(where, "whole file", "cuobjdump-refuses")
        return
    blocks = from_blocks(parse_blocks(text.decode()))
    section = (
        ".nv_fatbin" if any(i["section"] == ".nv_fatbin" for i in images) else "__nv_relfatbin"
    )
    listed = [i for i in images if i["section"] in (section, "")]
    compare(report, where + " (cuobjdump)", from_json(listed), blocks, "cuobjdump")


def check_wheel(report, cuslim, name):
    """A wheel's list is the lists of its libraries."""
    wheel, root = common.wheel(name), common.unpacked(name)
    if not wheel or not root:
        report.skip(f"wheel {name}")
        return
    whole = {}
    for image in common.run_json([cuslim, "list", "--format", "json", wheel])["images"]:
        whole.setdefault(image["member"], []).append(image)
    for member, images in whole.items():
        path = root / member.split(":")[0]
        if not path.is_file() or path.suffix == ".a":
            continue
        alone = common.run_json([cuslim, "list", "--format", "json", path])["images"]
        compare(
            report, f"{name}: {member}", from_json(images), from_json(alone), "the file alone"
        )


def main():
    report = common.Report("oracle images")
    cuslim, cuobjdump = common.cuslim(), common.cuobjdump()
    common.need(report, cuslim=cuslim, decompression=device.can_decompress())
    if not cuobjdump:
        report.skip("cuobjdump")
    for name in common.chosen(
        sys.argv, ["sample", "bitsandbytes", "xformers", "cupy", "vllm", "sgl_kernel"]
    ):
        paths = common.SETS[name]()
        if not paths:
            report.skip(name)
        for path in paths:
            check_library(report, cuslim, cuobjdump, path)
        if name in ("sgl_kernel", "xformers"):
            check_wheel(report, cuslim, name)
    report.finish()


main()
