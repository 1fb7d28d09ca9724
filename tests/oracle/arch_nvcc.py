#!/usr/bin/env python3
"""How `cuslim arch` reads nvcc flags, against `nvcc --dryrun`: the images it would put into the fatbin.

Usage: arch_nvcc.py [CASES [SEED]].  nvcc of CUDA_HOME (and, when there, the one of the cached wheel).
"""

import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import arch_lists
import common

OPTIONS = {
    "gencode": ["-gencode", "--generate-code"],
    "arch": ["-arch", "--gpu-architecture"],
    "code": ["-code", "--gpu-code"],
}
OTHERS = [
    ["-O3"],
    ["-Xptxas", "-v"],
    ["-Xcompiler", "-arch=sm_70"],
    ["-DX=1"],
    ["--ptxas-options", "-v"],
]


def option(rng, name, value):
    spelling = rng.choice(OPTIONS[name])
    return [f"{spelling}={value}"] if rng.random() < 0.5 else [spelling, value]


def gencode(rng, numbers):
    virtual = rng.choice(numbers)
    codes = []
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        # Mostly from itself; else anything, which nvcc refuses as often as not.
        number = virtual if rng.random() < 0.6 else rng.choice(numbers)
        codes.append(rng.choice(["sm_", "sm_", "compute_"]) + number)
    codes = list(dict.fromkeys(codes))
    text = codes[0] if len(codes) == 1 else rng.choice(["[%s]", '"%s"']) % ",".join(codes)
    pair = [f"arch=compute_{virtual}", f"code={text}"]
    return option(rng, "gencode", ",".join(pair if rng.random() < 0.9 else pair[::-1]))


def commands(count, seed, numbers):
    rng = random.Random(seed)
    out = [
        [],
        ["-arch=all"],
        ["-arch=all-major"],
        ["-arch=sm_90a"],
        ["-arch=compute_90a"],
        ["-arch=lto_90"],
        ["-code=sm_90"],
        ["-arch=sm_80", "-code=sm_80"],
        ["-arch=90"],
        ["--gpu-arch=sm_90"],
    ]
    while len(out) < count:
        words = []
        kind = rng.random()
        if kind < 0.2:
            words += option(rng, "arch", rng.choice(["sm_", "compute_"]) + rng.choice(numbers))
        elif kind < 0.35:
            number = rng.choice(numbers)
            words += option(rng, "arch", "compute_" + number)
            for _ in range(rng.choice([1, 1, 2])):
                codes = [
                    rng.choice(["sm_", "compute_"]) + number for _ in range(rng.choice([1, 2]))
                ]
                words += option(rng, "code", ",".join(codes))
        for _ in range(rng.randint(0 if words else 1, 3)):
            words += rng.choice(OTHERS) if rng.random() < 0.3 else gencode(rng, numbers)
        out.append(words)
    return out


def by_nvcc(nvcc, words, folder):
    """Sorted images, or None when nvcc refuses."""
    args = [nvcc, "--dryrun", "-c", "k.cu", "-o", "k.o", *words]
    p = subprocess.run(args, capture_output=True, text=True, cwd=folder)
    if p.returncode or "fatal" in p.stderr:
        return None
    return sorted(set(re.findall(r"--image3=kind=([a-z]+),sm=([0-9]+[af]?)", p.stderr)))


def builds(nvcc, words, folder):
    """--dryrun does not run ptxas, which refuses some of what nvcc lets pass."""
    return (
        subprocess.run(
            [nvcc, "-c", "k.cu", "-o", "k.o", *words], capture_output=True, cwd=folder
        ).returncode
        == 0
    )


def expected_toolkit(nvcc):
    text = subprocess.run([nvcc, "--version"], capture_output=True, text=True).stdout
    return re.search(r"release (\d+\.\d+)", text)[1]


def check(report, cuslim, nvcc, count, seed):
    toolkit = expected_toolkit(nvcc)
    known = [
        n for n in arch_lists.NUMBERS if int(n.rstrip("af")) >= 75 and not n.startswith("101")
    ]
    if float(toolkit) < 13.4:
        known = [n for n in known if not n.startswith("107")]
    cases = commands(count, seed, known + ["72"])
    asked = [
        ["arch", "--format", "json", "--from", "nvcc", "--toolkit", toolkit, "--", *c]
        for c in cases
    ]
    ours = arch_lists.ask(cuslim, asked)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "k.cu").write_text("__global__ void k() {}\n")
        for words, (code, got, err) in zip(cases, ours):
            where = f"nvcc {toolkit} {' '.join(words)}"
            theirs = by_nvcc(nvcc, words, folder)
            if code not in (0, 2, 3):
                report.differ(where, f"exit {code}: {err}")
            mine = sorted(set(arch_lists.images(got))) if code == 0 else None
            if mine == [] or "--gpu-arch=sm_90" in words:
                continue  # no architecture at all: nvcc's default is not in the list
            if mine is None and theirs is not None and not builds(nvcc, words, folder):
                theirs = None
            report.equal(where, "images", mine, theirs)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    report = common.Report("oracle arch_nvcc")
    cuslim = common.cuslim()
    nvcc = common.tool("nvcc", common.TOOLKIT / "bin/nvcc")
    common.need(report, cuslim=cuslim, nvcc=nvcc)
    others = [common.CACHE / "x/nvidia_cuda_nvcc/nvidia/cu13/bin/nvcc"]
    for program in [nvcc] + [str(o) for o in others if o.is_file()]:
        check(report, cuslim, program, count, seed)
    report.finish()


main()
