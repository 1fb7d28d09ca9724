#!/usr/bin/env python3
"""Code bytes per kernel and architecture: cuslim size against the independent reader and cubloaty.

Usage: code.py [--no-peer] [SET...]
"""

import collections
import sys

import common
import device


def ours(cuslim, path):
    doc = common.run_json(
        [
            cuslim,
            "size",
            "--by",
            "kernel,arch",
            "--names",
            "mangled",
            "--top",
            "all",
            "--format",
            "json",
            path,
        ]
    )
    out = collections.Counter()
    for row in doc["rows"]:
        key = row["key"]
        if row["code_bytes"]:
            out[key["kernel"], key["arch"]] += row["code_bytes"]
    return doc["totals"], out


def by_reader(path):
    data, out, totals = device.open_file(path), collections.Counter(), collections.Counter()
    for image in device.images(data):
        totals["images"] += 1
        if image.kind == 2:
            cubin = device.Cubin(image.load())
            totals["code_bytes"] += cubin.code_bytes
            totals["sections"] += len(cubin.text)
            for kernel in cubin.kernels:
                if kernel.code_bytes:
                    out[kernel.name, f"sm_{image.arch}{image.suffix}"] += kernel.code_bytes
    return totals, out


def by_peer(cubloaty, path):
    """cubloaty's code bytes by (mangled names, arch); None when it cannot read the file."""
    base = [cubloaty, "--format", "json", "--mangled", "--top", 10**9]
    code, out, _ = common.run([*base, path])
    if code:
        return None
    whole = common.json.loads(out)
    result = collections.Counter()
    opaque = any(c["opaque"] for c in whole["components"])
    for arch in whole["architectures"]:
        if not arch.startswith("sm_"):
            continue
        for kernel in common.run_json([*base, "--arch", arch, path])["kernels"]:
            result[tuple(sorted(kernel["mangled"])), arch] += kernel["by_category"].get("code", 0)
    return opaque, result


def compare(report, where, left, right, who, reason=None):
    for key in sorted(set(left) | set(right), key=str):
        a, b = left.get(key, 0), right.get(key, 0)
        if a == b:
            report.ok()
        else:
            report.differ(where, f"{key}: cuslim {a}, {who} {b}", reason)


def check(report, cuslim, cubloaty, path):
    where = path.name
    mine_totals, mine = by_reader(path) if is_device_file(path) else ({}, {})
    totals, rows = ours(cuslim, path)
    compare(report, where, rows, mine, "the reader")
    report.equal(where, "total code", totals["code_bytes"], mine_totals.get("code_bytes", 0))
    report.equal(where, "images", totals["images"], mine_totals.get("images", 0))
    if not cubloaty or not mine:
        return
    peer = by_peer(cubloaty, path)
    if peer is None:
        report.differ(where, "whole file", "peer-cannot-read")
        return
    opaque, theirs = peer
    # The peer joins kernels whose demangled names are equal: join ours the same way.
    owner = {(name, arch): names for names, arch in theirs for name in names}
    joined = collections.Counter()
    for (name, arch), code in rows.items():
        joined[owner.get((name, arch), (name,)), arch] += code
    theirs = collections.Counter({k: v for k, v in theirs.items() if v})
    compare(
        report,
        where + " (cubloaty)",
        joined,
        theirs,
        "cubloaty",
        "peer-opaque-concat" if opaque else None,
    )


def is_device_file(path):
    with open(path, "rb") as f:
        head = f.read(8)
    return head[:4] == b"\x7fELF" or head == device.MAGIC


def main():
    report = common.Report("oracle code")
    cuslim = common.cuslim()
    common.need(report, cuslim=cuslim, decompression=device.can_decompress())
    cubloaty = None if "--no-peer" in sys.argv else common.cubloaty()
    if not cubloaty:
        report.skip("cubloaty")
    for name in common.chosen(
        sys.argv, ["sample", "bitsandbytes", "xformers", "cupy", "vllm", "sgl_kernel"]
    ):
        paths = common.SETS[name]()
        if not paths:
            report.skip(name)
        for path in paths:
            check(report, cuslim, cubloaty, path)
    report.finish()


main()
