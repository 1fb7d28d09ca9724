#!/usr/bin/env python3
"""Holds what a GPU ran against what the selection module says.

    judge.py IDS PREDICTED GPU     IDS: "sm_90a 7"; PREDICTED: output of predict; GPU: output of load
"""
import sys

ids = dict(line.split() for line in open(sys.argv[1]))
name_of = {v: k for k, v in ids.items()}
want = {w[0]: (w[1], w[2], w[3]) for w in (line.split() for line in open(sys.argv[2]))}
bad = good = unsure = 0
for line in open(sys.argv[3]):
    if line.startswith("#"):
        print(line.strip())
        continue
    name, *got = line.split()
    outcome, target, certainty = want[name]
    ran = "none" if got[0] == "error" else name_of[got[0]]
    expected = "none" if outcome == "none" else target
    if ran == expected:
        good += 1
    elif certainty == "uncertain":
        unsure += 1
        print(f"uncertain {name}: predicted {expected}, ran {ran} {got}")
    else:
        bad += 1
        print(f"DIFFER {name}: predicted {expected}, ran {ran} {got}")
print(f"{good} passed, {bad} failed, {unsure} skipped")
sys.exit(bad != 0)
