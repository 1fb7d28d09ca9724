#!/usr/bin/env python3
"""Loads every library and runs every program of a folder, each in a process of its own.
    run_layouts.py DIR"""
import pathlib
import subprocess
import sys

bad = total = 0
for eager in ("", "EAGER"):
    env = {**__import__("os").environ} | ({"CUDA_MODULE_LOADING": eager} if eager else {})
    for f in sorted(pathlib.Path(sys.argv[1]).iterdir()):
        if f.suffix not in (".so", ".exe"):
            continue
        words = ([sys.executable, "-c", f"import ctypes,sys;sys.exit(min(ctypes.CDLL('{f}').check_all(),255))"]
                 if f.suffix == ".so" else [str(f)])
        rc = subprocess.run(words, env=env, capture_output=True, text=True)
        total += 1
        ok = rc.returncode == 0
        bad += not ok
        why = "" if ok else f"{rc.returncode} {rc.stderr[-200:]}"
        print(" ".join(["ok" if ok else "FAIL", f.name, eager, why]).rstrip())
print(f"{total - bad} passed, {bad} failed, 0 skipped")
