#!/usr/bin/env python3
"""Compares the hashes of torch_ops.py or bnb_ops.py.

    compare.py ORIGINAL.json [--again ORIGINAL2.json] OTHER.json...

What differs between two runs of the original (--again) is not deterministic: it is named, and not
held against the others.
"""
import json
import sys

paths = sys.argv[1:]
loose = []
want = json.load(open(paths.pop(0)))
if paths and paths[0] == "--again":
    again = json.load(open(paths[1]))
    loose = [k for k in want["results"] if again["results"].get(k) != want["results"][k]]
    print(f"not the same in two runs of the original: {loose}")
    paths = paths[2:]
bad = 0
for path in paths:
    got = json.load(open(path))
    held = [k for k in want["results"] if k not in loose]
    differ = [k for k in held if got["results"].get(k) != want["results"][k]]
    missing = [k for k in want["failed"] if k not in got["failed"]]
    bad += bool(differ or missing)
    print(f"{path}: {len(held) - len(differ)} of {len(held)} bit-equal"
          + (f", different: {differ}" if differ else ""))
print("PASS" if not bad else "FAIL")
sys.exit(bad != 0)
