#!/usr/bin/env python3
"""`cuslim arch --flags torch` against _get_cuda_arch_flags of the torch 2.11.0 wheel.

Usage: arch_torch.py [CASES [SEED]].  The function's own source is taken out of the wheel and run; torch need
not be installed.  A list that torch refuses must be refused.
"""

import ast
import collections
import os
import random
import sys
import zipfile

import arch_lists
import common

FAMILIES = [
    "Kepler",
    "Kepler+Tesla",
    "Maxwell",
    "Maxwell+Tegra",
    "Pascal",
    "Volta",
    "Volta+Tegra",
    "Turing",
    "Ampere",
    "Ampere+Tegra",
    "Ada",
    "Hopper",
    "Blackwell",
    "Blackwell+Tegra",
]
WRONG = [
    "9.0b",
    "8.0a",
    "12.0f",
    "8.8",
    "10.1",
    "10.7",
    "sm_90",
    "90",
    "9",
    "Hoper",
    "9.0+PTX+PTX",
    "9.0 +PTX",
    "",
    "hopper",
    "Ampere+PTX",
    "8.0,9.0",
    "all",
    "8.6(8.0)",
    "10.0f+PTX",
    "13.0",
    "9.0a+ptx",
    "\t8.0",
]


def torch_function():
    path = common.wheel("torch-2.11.0")
    if not path:
        return None
    with zipfile.ZipFile(path) as z:
        tree = ast.parse(z.read("torch/utils/cpp_extension.py"))
    function = next(
        n
        for n in tree.body
        if isinstance(n, ast.FunctionDef) and n.name == "_get_cuda_arch_flags"
    )
    scope = {"collections": collections, "os": os}
    exec(compile(ast.Module([function], []), "cpp_extension.py", "exec"), scope)
    return scope["_get_cuda_arch_flags"]


def lists(count, seed):
    rng = random.Random(seed)
    out = []
    for i in range(count):
        words = []
        for _ in range(rng.randint(1, 8)):
            kind = rng.random()
            if kind < 0.12:
                words.append(rng.choice(FAMILIES))
            elif kind < 0.12 + (0.08 if i % 2 else 0):
                words.append(rng.choice(WRONG))
            else:
                number = rng.choice(
                    arch_lists.NUMBERS if i % 4 == 0 else ["75", "80", "86", "90", "90a", "120"]
                )
                words.append(arch_lists.dotted(number) + ("+PTX" if rng.random() < 0.25 else ""))
        out.append("".join(w + rng.choice(";; ") for w in words)[:-1] or "8.0")
    return out


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    report = common.Report("oracle arch_torch")
    cuslim, function = common.cuslim(), torch_function()
    common.need(report, cuslim=cuslim, **{"torch 2.11.0 wheel": function})
    cases = lists(count, seed)
    ours = arch_lists.ask(
        cuslim, [["arch", "-q", "--from", "torch", "--flags", "torch", c] for c in cases]
    )
    refused = 0
    for case, (code, got, err) in zip(cases, ours):
        os.environ["TORCH_CUDA_ARCH_LIST"] = case
        try:
            expected = " ".join(function())
        except ValueError:
            expected, refused = None, refused + 1
        if code not in (0, 2, 3):
            report.differ(repr(case), f"exit {code}: {err}")
        report.equal(repr(case), "flags", got if code == 0 else None, expected)
    print(f"{refused} of {count} lists are refused by torch")
    report.finish()


main()
