#!/usr/bin/env python3
"""Compares the hashes of torch_ops.py or bnb_ops.py: compare.py ORIGINAL.json OTHER.json..."""
import json
import sys

want = json.load(open(sys.argv[1]))
bad = 0
for path in sys.argv[2:]:
    got = json.load(open(path))
    differ = [k for k in want["results"] if got["results"].get(k) != want["results"][k]]
    missing = [k for k in want["failed"] if k not in got["failed"]]
    bad += bool(differ or missing)
    print(f"{path}: {len(want['results']) - len(differ)} of {len(want['results'])} bit-equal"
          + (f", different: {differ}" if differ else ""))
print("PASS" if not bad else "FAIL")
sys.exit(bad != 0)
