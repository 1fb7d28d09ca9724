#!/usr/bin/env python3
"""Coverage: the counts of cuslim check against counts made from cuobjdump's text.

Each container is cut out of its library (by the independent reader) and given to cuobjdump alone:
`-symbols` names the kernels of its cubins, `-ptx` those of its PTX.  The rules of selection are written
here a second time, from docs/format/selection.md.

Usage: coverage.py [SET...]    sets: see common.SETS
"""

import re
import struct
import sys
import tempfile
from pathlib import Path

import common
import device

DEVICES = ["7.0", "7.5", "8.0", "8.6", "8.7", "8.9", "9.0", "10.0", "10.3", "11.0", "12.0", "12.1"]
TEGRA = {53, 62, 72, 87, 101, 110}
FAMILIES = {100: {100, 103, 107}, 103: {103, 107}, 107: {107}, 110: {110}, 120: {120, 121}, 121: {121}}
OUTCOMES = ["native", "same_major", "jit", "none"]


def blocks(text):
    """(kind, arch number, suffix, kernels) of every image in cuobjdump's text, in order."""
    found = []
    for line in text.splitlines():
        line = line.strip("\t")
        title = re.fullmatch(r"Fatbin (elf|ptx) code:", line)
        if title:
            found.append([title.group(1), 0, "", []])
        elif line.startswith("arch = ") and found:
            name = re.fullmatch(r"arch = sm_(\d+)([af]?)", line)
            found[-1][1:3] = int(name.group(1)), name.group(2)
        elif line.startswith("FUNC") and line.split()[3] == "ENTRY":
            found[-1][3].append(line.split()[-1])
        else:
            entry = re.match(r"\s*(?:\.visible\s+|\.weak\s+)?\.entry\s+([\w$.]+)", line)
            if entry:
                found[-1][3].append(entry.group(1))
    return found


class Refused(Exception):
    pass


def container_images(cuobjdump, blob, folder):
    path = Path(folder) / "container.fatbin"
    path.write_bytes(blob)
    _, elf, err = common.run([cuobjdump, "-symbols", path])
    _, ptx, _ = common.run([cuobjdump, "-ptx", path])
    if b"Invalid ELF" in err:
        raise Refused
    return [b for b in blocks(elf.decode()) if b[0] == "elf"] + [b for b in blocks(ptx.decode()) if b[0] == "ptx"]


def fits(kind, arch, suffix, chip):
    """None, or how well: native, same_major, jit."""
    if suffix == "a":
        return ("native" if kind == "elf" else "jit") if arch == chip else None
    if suffix == "f":
        if chip not in FAMILIES.get(arch, ()):
            return None
        return "jit" if kind == "ptx" else "native" if arch == chip else "same_major"
    if kind == "ptx":
        return "jit" if arch <= chip else None
    if arch == chip:
        return "native"
    same = arch // 10 == chip // 10 and arch < chip and (arch in TEGRA) == (chip in TEGRA)
    return "same_major" if same else None


def select(images, chip):
    """The image the driver takes: SASS before PTX, the nearest, `a` before `f` before plain."""
    best = None
    for kind, arch, suffix, kernels in images:
        how = fits(kind, arch, suffix, chip)
        rank = (kind == "elf", arch, {"a": 2, "f": 1, "": 0}[suffix])
        if how and (best is None or rank > best[0] or (rank == best[0] and kind == "ptx")):
            best = (rank, how, set(kernels))
    return best


def count(images, chip):
    every = {k for image in images for k in image[3]}
    chosen = select(images, chip)
    counts = dict.fromkeys(OUTCOMES, 0)
    if chosen:
        counts[chosen[1]] = len(chosen[2])
    counts["none"] = len(every) - (len(chosen[2]) if chosen else 0)
    return counts


def library_counts(cuobjdump, path, folder):
    data = device.open_file(path)
    totals = {d: dict.fromkeys(OUTCOMES, 0) for d in DEVICES}
    for section, start in device.containers(data):
        if section == "__nv_relfatbin":
            continue
        size = 16 + struct.unpack_from("<Q", data, start + 8)[0]
        images = container_images(cuobjdump, data[start : start + size], folder)
        for d in DEVICES:
            major, minor = d.split(".")
            for key, n in count(images, int(major) * 10 + int(minor)).items():
                totals[d][key] += n
    return totals


def check_library(report, cuslim, cuobjdump, path, folder):
    args = [cuslim, "check", "--warn-only", "--format", "json", "--device", ",".join(DEVICES), path]
    result = common.run_json(args)
    try:
        theirs = library_counts(cuobjdump, path, folder)
    except Refused:
        report.differ(path.name, "whole file", "cuobjdump-refuses")
        return
    for row in result["devices"]:
        report.equal(path.name, row["device"], row["kernels"], theirs[row["device"]])


def main():
    report = common.Report("oracle coverage")
    cuslim, cuobjdump = common.cuslim(), common.cuobjdump()
    common.need(report, cuslim=cuslim, cuobjdump=cuobjdump)
    with tempfile.TemporaryDirectory() as folder:
        for name in common.chosen(sys.argv, ["sample", "xformers", "bitsandbytes", "cupy", "vllm", "sgl_kernel"]):
            paths = [p for p in common.SETS[name]() if p.read_bytes()[:4] == b"\x7fELF"]
            if not paths:
                report.skip(name)
            for path in paths:
                check_library(report, cuslim, cuobjdump, path, folder)
    report.finish()


main()
