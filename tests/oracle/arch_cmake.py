#!/usr/bin/env python3
"""`cuslim arch --flags cmake` against CMake generating for CUDA_ARCHITECTURES.

Usage: arch_cmake.py [CASES [SEED]].  Needs nvcc, and cmake 3.25 or newer: the one in PATH and, when given, those in
CUSLIM_CMAKES (paths separated by ':'); `a` and `f` suffixes are tried where the release takes them.
"""

import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import arch_lists
import common


def lists(count, seed, suffixes):
    rng = random.Random(seed)
    numbers = arch_lists.NUMBERS if suffixes else [n for n in arch_lists.NUMBERS if n.isdigit()]
    out = ["all", "all-major", "OFF", "80", "80;80", "80-real;80-virtual", "90-virtual"]
    while len(out) < count:
        words = [
            rng.choice(numbers) + rng.choice(["", "-real", "-virtual"])
            for _ in range(rng.randint(1, 7))
        ]
        out.append(";".join(words))
    return out


def version_of(cmake):
    text = subprocess.run([cmake, "--version"], capture_output=True, text=True).stdout
    return tuple(int(x) for x in text.split()[2].split("-")[0].split(".")[:2])


def generate(cmake, nvcc, cases, folder):
    """compile_commands.json of a project with one target for each list."""
    (folder / "x.cu").write_text("__global__ void k() {}\n")
    lines = [
        "cmake_minimum_required(VERSION 3.18)",
        "set(CMAKE_CUDA_ARCHITECTURES 80)",
        "project(p LANGUAGES CUDA)",
    ]
    for i, case in enumerate(cases):
        lines += [
            f"add_library(t{i} OBJECT x.cu)",
            f'set_property(TARGET t{i} PROPERTY CUDA_ARCHITECTURES "{case}")',
        ]
    (folder / "CMakeLists.txt").write_text("\n".join(lines) + "\n")
    build = folder / "build"
    args = [
        cmake,
        "-S",
        folder,
        "-B",
        build,
        "-G",
        "Unix Makefiles",
        "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
        f"-DCMAKE_CUDA_COMPILER={nvcc}",
    ]
    env = {k: v for k, v in os.environ.items() if k not in ("CUDAARCHS", "CUDAFLAGS")}
    p = subprocess.run(args, capture_output=True, text=True, env=env)
    if p.returncode:
        return None, p.stderr
    return json.loads((build / "compile_commands.json").read_text()), ""


def arch_words(command):
    return " ".join(
        w
        for w in shlex.split(command)
        if w.startswith(("--generate-code", "-arch", "-gencode", "-code"))
    )


def check(report, cuslim, cmake, nvcc, count, seed):
    version = version_of(cmake)
    name = "cmake " + ".".join(map(str, version))
    if version < (3, 25):
        report.skip(f"{name}: older than 3.25")
        return
    cases = lists(count, seed, suffixes=True)
    ours = arch_lists.ask(
        cuslim, [["arch", "-q", "--from", "cmake", "--flags", "cmake", c] for c in cases]
    )
    with tempfile.TemporaryDirectory() as folder:
        commands, err = generate(cmake, nvcc, cases, Path(folder))
    if commands is None:
        report.differ(name, f"configure failed: {err[-400:]}")
        return
    theirs = {
        re.search(r"CMakeFiles/t(\d+)\.dir", c["command"])[1]: arch_words(c["command"])
        for c in commands
    }
    for i, (case, (code, got, err)) in enumerate(zip(cases, ours)):
        report.equal(
            f"{name}: {case}",
            "flags",
            got if code == 0 else f"exit {code} {err}",
            theirs.get(str(i)),
        )


def check_wrong(report, cuslim, cmake, nvcc):
    """What CMake's own check of the whole variable refuses, we refuse."""
    for case in ["90b", "80-reel", "80;all", "9.0", "sm_80", "80 86", "80,86"]:
        ((code, _, _),) = arch_lists.ask(
            cuslim, [["arch", "-q", "--from", "cmake", "--flags", "cmake", case]]
        )
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder)
            (path / "CMakeLists.txt").write_text(
                "cmake_minimum_required(VERSION 3.18)\n"
                f'set(CMAKE_CUDA_ARCHITECTURES "{case}")\nproject(p LANGUAGES CUDA)\n'
            )
            args = [
                cmake,
                "-S",
                path,
                "-B",
                path / "b",
                "-G",
                "Unix Makefiles",
                f"-DCMAKE_CUDA_COMPILER={nvcc}",
            ]
            refused = subprocess.run(args, capture_output=True).returncode != 0
        report.equal(f"wrong list {case}", "refused", code != 0, refused)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    report = common.Report("oracle arch_cmake")
    cuslim = common.cuslim()
    nvcc = common.tool("nvcc", common.TOOLKIT / "bin/nvcc")
    cmakes = [
        c for c in [shutil.which("cmake")] + os.environ.get("CUSLIM_CMAKES", "").split(":") if c
    ]
    common.need(report, cuslim=cuslim, nvcc=nvcc, cmake=cmakes)
    for cmake in cmakes:
        check(report, cuslim, cmake, nvcc, count, seed)
    check_wrong(report, cuslim, cmakes[-1], nvcc)
    report.finish()


main()
