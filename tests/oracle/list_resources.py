#!/usr/bin/env python3
"""Compares the resources that `cuslim list --kernels` shows with those of NVIDIA's own tools.

    list_resources.py [--program cuslim] [--cuobjdump PATH] [FILE or FOLDER...]
    list_resources.py --nvcc NVCC [--program cuslim] SOURCE.cu...

The first form compares with `cuobjdump -res-usage`, without files on the smaller libraries below
$CUSLIM_CACHE/x: registers, stack, shared and constant memory.  cuobjdump shows .nv.shared.* as it
is, which from sm_90 on holds 1 KiB that the system reserves; we, like ptxas -v, leave it out.  From
sm_90 on cuobjdump shows no registers for device functions, though .nv.info has them.
The second compares with `ptxas -v` for every target that NVCC builds for: registers, barriers,
cumulative stack, shared and constant memory.
Exit code 1 on a difference, 77 when there is nothing to compare with.
"""

import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

CUOBJDUMP = "x/nvidia_cuda_cuobjdump/nvidia/cu13/bin/cuobjdump"
LARGEST_BYTES = 64 << 20
RESERVED_SHARED = 1024
TARGETS = "75 80 86 87 88 89 90 90a 100 100a 100f 103 103a 110 120 120a 121".split()


def output(command, check=True):
    return subprocess.run(
        command,
        check=check,
        text=True,
        errors="surrogateescape",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ).stdout


def listing(program, path):
    text = subprocess.run(
        [program, "list", "--kernels", "--format=json", path], check=True, stdout=subprocess.PIPE
    ).stdout
    return json.loads(text)["images"]


def functions(image):
    return {f["name"]: f for f in image.get("kernels", []) + image.get("device_functions", [])}


# ---- cuobjdump -----------------------------------------------------------------------------------


def res_usage(cuobjdump, path):
    """One {function: {resource: value}} for each cubin that cuobjdump finds."""
    images, name = [], None
    text = output([cuobjdump, "-res-usage", path], check=False)
    if "cuobjdump fatal" in text:
        return None
    for line in text.splitlines():
        if line.startswith("Resource usage:"):
            images.append({})
        elif line.startswith(" Function "):
            name = line[len(" Function ") : -1]
        elif name and line.startswith("  REG:"):
            images[-1][name] = {
                k: int(v) for k, v in (pair.rsplit(":", 1) for pair in line.split())
            }
            name = None
    return images


def seen_by_cuobjdump(images):
    sass = [i for i in images if i["kind"] == "sass"]
    plain = [i for i in sass if i["section"] in (".nv_fatbin", "[file]")]
    return plain or [i for i in sass if i["section"] == "__nv_relfatbin"]


def wrong_usage(mine, theirs, arch, is_kernel):
    reserved = RESERVED_SHARED if arch >= 90 and theirs["SHARED"] else 0
    pairs = (
        ("REG", mine["registers"]),
        ("STACK", mine["stack_bytes"]),
        ("SHARED", mine["shared_bytes"] + reserved),
        ("CONSTANT[0]", mine["constant_bytes"]),
    )
    return [
        f"{key} {value} instead of {theirs.get(key, 0)}"
        for key, value in pairs
        if value != theirs.get(key, 0)
        and (key != "REG" or is_kernel or arch < 90 or theirs["REG"] != 0)
    ]


def compare_usage(path, args):
    mine, theirs = seen_by_cuobjdump(listing(args.program, path)), res_usage(args.cuobjdump, path)
    if theirs is None:
        print(f"{path}: cuobjdump gives up")
        return 0, []
    if len(mine) != len(theirs):
        return 0, [f"{len(mine)} images instead of {len(theirs)}"]
    count, wrong = 0, []
    for image, usage in zip(mine, theirs):
        known = functions(image)
        kernels = {k["name"] for k in image["kernels"]}
        arch = int(re.search(r"\d+", image["target"])[0])
        if set(known) != set(usage):
            wrong.append(
                f"{image['target']} at {image['offset']}: other functions: "
                f"{sorted(set(known) ^ set(usage))[:3]}"
            )
        for name in set(known) & set(usage):
            count += 1
            wrong += [
                f"{image['target']} {name[:60]}: {text}"
                for text in wrong_usage(known[name], usage[name], arch, name in kernels)
            ]
    return count, wrong


# ---- ptxas ---------------------------------------------------------------------------------------


def ptxas_usage(text):
    """{kernel: what 'ptxas -v' says of it}."""
    usage, name = {}, None
    for line in text.splitlines():
        match = re.search(r"Compiling entry function '([^']+)'", line)
        if match:
            name = match[1]
        match = re.search(r"Used (\d+) registers", line)
        if match and name:
            found = {"registers": int(match[1])}
            for key, pattern in (
                ("barriers", r"used (\d+) barriers"),
                ("shared_bytes", r"(\d+) bytes smem"),
                ("constant_bytes", r"(\d+) bytes cmem\[0\]"),
                ("local_bytes", r"(\d+) bytes cumulative stack"),
            ):
                match = re.search(pattern, line)
                if match:
                    found[key] = int(match[1])
            usage[name] = found
            name = None
    return usage


def compare_ptxas(source, target, args, folder):
    cubin = os.path.join(folder, "out.cubin")
    text = output([args.nvcc, f"-arch=sm_{target}", "-cubin", "-Xptxas=-v", "-o", cubin, source])
    theirs, (image,) = ptxas_usage(text), listing(args.program, cubin)
    kernels = {k["name"]: k for k in image["kernels"]}
    wrong = []
    if set(kernels) != set(theirs):
        wrong.append(f"other kernels: {sorted(set(kernels) ^ set(theirs))[:3]}")
    for name in set(kernels) & set(theirs):
        for key in ("registers", "barriers", "shared_bytes", "constant_bytes", "local_bytes"):
            # ptxas is silent about what is none; about bank 0 it is silent from sm_90 on.
            expected = theirs[name].get(key, None if key == "constant_bytes" else 0)
            if expected is not None and kernels[name][key] != expected:
                wrong.append(f"{name[:60]}: {key} {kernels[name][key]} instead of {expected}")
    return len(kernels), wrong


def supported(nvcc):
    listed = output([nvcc, "--list-gpu-code"]).split()
    return [t for t in TARGETS if f"sm_{t.rstrip('af')}" in listed]


def run_all(jobs):
    total, counts = 0, collections.Counter()
    for label, (count, wrong) in jobs:
        total += count
        for text in wrong[:10]:
            print(f"{label}: {text}")
        counts["wrong"] += len(wrong)
        counts["jobs"] += 1
    print(f"{total} functions in {counts['jobs']} files: {counts['wrong']} differences")
    return 1 if counts["wrong"] else 0


def real_files(roots):
    for root in roots:
        path = Path(root)
        found = sorted(path.rglob("*.so")) if path.is_dir() else [path] if path.exists() else []
        yield from (
            p for p in found if p.is_file() and (p == path or p.stat().st_size <= LARGEST_BYTES)
        )


def main():
    cache = Path(os.environ.get("CUSLIM_CACHE") or Path.home() / ".cache/cuslim")
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--program", default="build/cuslim")
    parser.add_argument(
        "--cuobjdump", default=os.environ.get("CUSLIM_CUOBJDUMP") or str(cache / CUOBJDUMP)
    )
    parser.add_argument("--nvcc")
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()
    if args.nvcc:
        with tempfile.TemporaryDirectory() as folder:
            return run_all(
                (f"{source} sm_{target}", compare_ptxas(source, target, args, folder))
                for source in args.files
                for target in supported(args.nvcc)
            )
    files = [str(p) for p in real_files(args.files or [cache / "x"])]
    if not os.access(args.cuobjdump, os.X_OK) or not files:
        print("skip: no cuobjdump or no files")
        return 77
    return run_all((path, compare_usage(path, args)) for path in files)


if __name__ == "__main__":
    sys.exit(main())
