#!/usr/bin/env python3
"""`cuslim arch intersect --as vllm` against CMake running vLLM 0.33.0's own function.

Usage: arch_vllm.py [CASES [SEED]].  The sdist is looked for in CACHE/sdist.
"""

import random
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import arch_lists
import common

RELEASE = "vllm-0.33.0"


def utils():
    path = common.CACHE / "sdist" / f"{RELEASE}.tar.gz"
    if not path.is_file():
        return None
    with tarfile.open(path) as t:
        return t.extractfile(f"{RELEASE}/cmake/utils.cmake").read().decode()


def word(rng, ptx):
    number = rng.choice(arch_lists.NUMBERS)
    if rng.random() < 0.05:  # the function asks of nothing whether it exists
        number = rng.choice(["80a", "90f", "131", "95", "121", "200a", "110f"])
    return arch_lists.dotted(number) + ("+PTX" if rng.random() < ptx else "")


def pairs(count, seed):
    rng = random.Random(seed)
    few = rng.sample(arch_lists.NUMBERS, 10)
    out = []
    for i in range(count):
        if i % 3 == 0:  # close to each other, so that many rules meet
            pick = lambda ptx: arch_lists.dotted(rng.choice(few)) + (
                "+PTX" if rng.random() < ptx else ""
            )
        else:
            pick = lambda ptx: word(rng, ptx)
        source = ";".join(pick(0.3) for _ in range(rng.randint(1, 8)))
        target = ";".join(pick(0.03) for _ in range(rng.randint(1, 8)))
        out.append((source, target))
    return out


def by_cmake(cmake, text, cases):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "utils.cmake").write_text(text)
        lines = [
            "cmake_minimum_required(VERSION 3.18)",
            "include(${CMAKE_CURRENT_LIST_DIR}/utils.cmake)",
        ]
        for source, target in cases:
            lines += [
                "set(OUT)",
                f'cuda_archs_loose_intersection(OUT "{source}" "{target}")',
                'message("<${OUT}>")',
            ]
        script = Path(folder) / "cases.cmake"
        script.write_text("\n".join(lines) + "\n")
        p = subprocess.run([cmake, "-P", script], capture_output=True, text=True)
    results = [line[1:-1] for line in p.stderr.splitlines() if line.startswith("<")]
    if p.returncode or len(results) != len(cases):
        raise RuntimeError(f"cmake: {p.stderr[-500:]}")
    return results


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    report = common.Report("oracle arch_vllm")
    cuslim, cmake, text = common.cuslim(), shutil.which("cmake"), utils()
    common.need(report, cuslim=cuslim, cmake=cmake, **{f"sdist of {RELEASE}": text})
    cases = pairs(count, seed)
    theirs = by_cmake(cmake, text, cases)
    ours = arch_lists.ask(
        cuslim,
        [["arch", "intersect", "--as", "vllm", "--source", s, "--target", t] for s, t in cases],
    )
    for (source, target), expected, (code, got, err) in zip(cases, theirs, ours):
        report.equal(
            f"{source} | {target}", "result", got if code == 0 else f"exit {code} {err}", expected
        )
    report.finish()


main()
