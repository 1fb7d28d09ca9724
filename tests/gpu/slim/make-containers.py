#!/usr/bin/env python3
"""Makes containers for the selection test: kernels compiled once per target with an ID of their own,
put together by fatbinary in many orders, then recompressed, split and joined by cuslim.

    make-containers.py OUT --cuslim PROGRAM --nvcc NVCC --fatbinary FATBINARY --concat FATBINARY_13_5

Writes OUT/*.fatbin and OUT/ids.txt ("sm_90a 7").
"""
import argparse
import itertools
import pathlib
import subprocess

SASS = ["75", "80", "86", "89", "90", "90a", "100", "100f", "120"]
PTX = ["75", "80", "89", "90", "90a", "100"]


def run(*words):
    subprocess.run([str(w) for w in words], check=True, stdout=subprocess.DEVNULL)


def compile_all(out, nvcc, source):
    ids = {}
    for n, arch in enumerate(SASS, 1):
        ids[f"sm_{arch}"] = n
        run(nvcc, "-cubin", f"-arch=sm_{arch}", f"-DID={n}", source, "-o", out / f"sm_{arch}.cubin")
    for n, arch in enumerate(PTX, 101):
        ids[f"compute_{arch}"] = n
        run(nvcc, "-ptx", f"-arch=compute_{arch}", f"-DID={n}", source, "-o",
            out / f"compute_{arch}.ptx")
    (out / "ids.txt").write_text("".join(f"{k} {v}\n" for k, v in ids.items()))


def put(fatbinary, out, name, targets, *options):
    images = []
    for t in targets:
        kind, arch = ("ptx", t[8:]) if t.startswith("compute_") else ("elf", t[3:])
        file = out / (f"{t}.ptx" if kind == "ptx" else f"{t}.cubin")
        images.append(f"--image3=kind={kind},sm={arch},file={file}")
    run(fatbinary, "-64", *options, f"--create={out / name}.fatbin", *images)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("out", type=pathlib.Path)
    for name in ("cuslim", "nvcc", "fatbinary", "concat"):
        p.add_argument(f"--{name}", required=True)
    a = p.parse_args()
    a.out.mkdir(parents=True, exist_ok=True)
    compile_all(a.out, a.nvcc, pathlib.Path(__file__).with_name("which.cu"))
    sets = [
        ["sm_90", "sm_90a"], ["sm_90", "compute_90a"], ["sm_90", "compute_80"],
        ["sm_80", "compute_80"], ["compute_80", "compute_90"], ["compute_80", "compute_89"],
        ["compute_90", "compute_90a"], ["sm_80", "sm_90", "compute_90"],
        ["sm_90a", "sm_100f", "compute_80"], ["sm_75", "sm_80", "sm_86"],
        ["sm_86", "sm_89", "compute_75"], ["sm_100", "sm_120", "compute_75"],
        ["sm_90", "sm_90a", "compute_90"], ["sm_90", "compute_90", "compute_90a"],
    ]
    n = 0
    for targets in sets:
        for order in itertools.permutations(targets):
            put(a.fatbinary, a.out, f"c{n:02d}-" + "+".join(order), order, "--compress-mode=none")
            n += 1
    for one in ["sm_90", "sm_90a", "sm_80", "sm_100f", "compute_75", "compute_90", "compute_90a",
                "compute_100"]:
        put(a.fatbinary, a.out, f"c{n:02d}-{one}", [one], "--compress-all", "--compress-mode=size")
        n += 1
    for targets in (["sm_80", "sm_90"], ["sm_90", "sm_90a"], ["compute_80", "compute_90"],
                    ["sm_80", "sm_90", "compute_80"]):
        put(a.concat, a.out, f"c{n:02d}-concat-" + "+".join(targets), targets, "--concat",
            "--compress-all", "--compress-mode=size")
        n += 1
    edits = {
        "zstd": ["--recompress", "zstd:19"], "lz4": ["--recompress", "lz4"],
        "none": ["--recompress", "none"], "concat": ["--recompress", "concat:19"],
        "for90": ["--for", "9.0", "--recompress", "zstd:3"],
        "split": ["--split-concatenated", "--recompress", "keep"], "free": [],
    }
    for source in sorted(a.out.glob("c*.fatbin")):
        if not ("concat" in source.name or source.name[1:3] in ("00", "06", "14", "20", "32")):
            continue
        for edit, options in edits.items():
            run(a.cuslim, "slim", source, "-o", a.out / f"{source.stem}.{edit}.fatbin",
                "--allow-floor", "unknown", *options)
    print(len(list(a.out.glob("c*.fatbin"))), "containers")


main()
