#!/usr/bin/env python3
"""Compares `cuslim list --cuobjdump` with NVIDIA's cuobjdump, byte for byte, on real files.

    cuobjdump_list.py [--program cuslim] [--cuobjdump PATH] [--quick] [FILE or FOLDER...]

Without files: every library and archive below $CUSLIM_CACHE/x and $CUDA_HOME/lib64 (by default
~/.cache/cuslim and /usr/local/cuda).  Standard output and the remarks on standard error must be
equal.  What is known to differ is counted apart, with its reason; docs/format/cuobjdump-text.md has
the same list.  Exit code 1 on any other difference, 77 when there is nothing to compare with.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

OPTION_SETS = [[], ["-lelf"], ["-lptx"], ["-lelf", "-lptx"], ["-all"], ["-all", "-lelf", "-lptx"]]
QUICK_SETS = [[], ["-lelf", "-lptx"], ["-all", "-lelf", "-lptx"]]
CUOBJDUMP = "x/nvidia_cuda_cuobjdump/nvidia/cu13/bin/cuobjdump"


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.returncode, done.stdout, done.stderr


def is_candidate(path):
    name = path.name
    if path.is_symlink() or not path.is_file():
        return False
    return name.endswith((".so", ".a", ".o", ".fatbin", ".cubin")) or ".so." in name


def candidates(roots):
    for root in roots:
        path = Path(root)
        if path.is_dir():
            yield from sorted(p for p in path.rglob("*") if is_candidate(p))
        elif path.exists():
            yield path


def known_difference(theirs):
    """Why cuobjdump's output cannot be compared, or nothing."""
    _, _, err = theirs
    for text, reason in (
        (b"has been removed", "cuobjdump refuses old targets"),
        (b"null filename", "cuobjdump fails on a blank identifier"),
        (b"Invalid", "cuobjdump calls a cubin or container invalid"),
    ):
        if b"cuobjdump fatal" in err and text in err:
            return reason
    return None


def first_difference(mine, theirs):
    a, b = mine.splitlines(), theirs.splitlines()
    for i, (x, y) in enumerate(zip(a, b)):
        if x != y:
            return f"line {i + 1}: {x!r} instead of {y!r}"
    return f"{len(a)} lines instead of {len(b)}"


def compare(path, options, args):
    """None when equal, else (known reason or None, what differs)."""
    theirs = run([args.cuobjdump, *options, str(path)])
    mine = run([args.program, "list", "--cuobjdump", *options, str(path)])
    if mine[1] == theirs[1] and mine[2] == theirs[2] and mine[0] == 0:
        return None
    what = (
        f"exit code {mine[0]}: {mine[2][:200]!r}"
        if mine[0]
        else (
            f"stdout {first_difference(mine[1], theirs[1])}"
            if mine[1] != theirs[1]
            else f"stderr {mine[2][:200]!r} instead of {theirs[2][:200]!r}"
        )
    )
    return known_difference(theirs), what


def main():
    cache = Path(os.environ.get("CUSLIM_CACHE") or Path.home() / ".cache/cuslim")
    cuda = Path(os.environ.get("CUDA_HOME") or "/usr/local/cuda")
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--program", default="build/cuslim")
    parser.add_argument(
        "--cuobjdump", default=os.environ.get("CUSLIM_CUOBJDUMP") or str(cache / CUOBJDUMP)
    )
    parser.add_argument("--quick", action="store_true", help="three sets of options, not six")
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()
    if not os.access(args.cuobjdump, os.X_OK):
        print(f"skip: no cuobjdump at {args.cuobjdump}")
        return 77
    files = list(candidates(args.files or [cache / "x", cuda / "lib64"]))
    if not files:
        print("skip: no files")
        return 77
    equal = failed = 0
    known = {}
    for path in files:
        for options in QUICK_SETS if args.quick else OPTION_SETS:
            result = compare(path, options, args)
            if result is None:
                equal += 1
            elif result[0]:
                known.setdefault(result[0], []).append(f"{path} {' '.join(options)}")
            else:
                failed += 1
                print(f"DIFFERS {path} {' '.join(options)}\n  {result[1]}", flush=True)
    for reason, places in known.items():
        print(f"known: {reason}: {len(places)} times, the first {places[0]}")
    print(
        f"{len(files)} files: {equal} outputs equal, {failed} differ,"
        f" {sum(map(len, known.values()))} known differences"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
