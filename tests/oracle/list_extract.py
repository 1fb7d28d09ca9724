#!/usr/bin/env python3
"""Compares the files of `cuslim list --extract` with those of cuobjdump -xelf all and -xptx all.

    list_extract.py [--program cuslim] [--cuobjdump PATH] [FILE or FOLDER...]

Without files: some libraries below $CUSLIM_CACHE/x and in $CUDA_HOME/lib64.  Images are compared in
order, byte for byte; cuobjdump gives images with one identifier one name, so of those only the last
can be compared.  Exit code 1 on a difference, 77 when there is nothing to compare with.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

CUOBJDUMP = "x/nvidia_cuda_cuobjdump/nvidia/cu13/bin/cuobjdump"
LARGEST_BYTES = 100 << 20


def theirs(cuobjdump, option, path, folder):
    """Names in the order of extraction, or None when cuobjdump fails."""
    done = subprocess.run(
        [cuobjdump, option, "all", "-all", path],
        cwd=folder,
        text=True,
        errors="surrogateescape",
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    if "cuobjdump fatal" in done.stderr:
        return None
    names = re.findall(
        r"^Extracting (?:ELF|PTX) file(?: and ptxas options)? +\d+: (.*)$", done.stdout, re.M
    )
    return [n.split(" -arch=")[0] for n in names]


def mine(program, path, folder):
    text = subprocess.run(
        [program, "list", "--quiet", "--format=json", f"--extract={folder}", path],
        check=True,
        stdout=subprocess.PIPE,
    ).stdout
    images = json.loads(text)["images"]
    order = {".nv_fatbin": 0, "[file]": 0, "__nv_relfatbin": 1}
    seen = [i for i in images if i["section"] in order]
    members = {m: n for n, m in enumerate(dict.fromkeys(i["member"] for i in images))}
    return sorted(seen, key=lambda i: (members[i["member"]], order[i["section"]]))


def compare(path, args):
    count, wrong = 0, []
    with tempfile.TemporaryDirectory() as folder:
        ours = Path(folder, "mine")
        images = mine(args.program, path, ours)
        for option, kind in (("-xelf", "sass"), ("-xptx", "ptx")):
            other = Path(folder, kind)
            other.mkdir()
            names = theirs(args.cuobjdump, option, path, other)
            chosen = [i for i in images if i["kind"] == kind]
            if names is None:
                print(f"{path}: cuobjdump {option} gives up")
            elif len(names) != len(chosen):
                wrong.append(f"{len(chosen)} {kind} images instead of {len(names)}")
            else:
                last = {name: i for i, name in enumerate(names)}
                for i, (name, image) in enumerate(zip(names, chosen)):
                    if last[name] == i:
                        count += 1
                        if Path(ours, image["file"]).read_bytes() != (other / name).read_bytes():
                            wrong.append(f"{image['file']} is not equal to {name}")
    return count, wrong


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
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()
    roots = args.files or [
        cache / "x/bitsandbytes",
        cache / "x/xformers",
        cache / "x/vllm/vllm",
        cache / "x/cupy",
        cuda / "lib64",
    ]
    files = []
    for root in map(Path, roots):
        found = sorted(root.rglob("*")) if root.is_dir() else [root]
        files += [
            p
            for p in found
            if p.is_file()
            and not p.is_symlink()
            and re.search(r"\.(so|a|o|fatbin|cubin)(\.|$)", p.name)
            and (p == root or p.stat().st_size <= LARGEST_BYTES)
        ]
    if not os.access(args.cuobjdump, os.X_OK) or not files:
        print("skip: no cuobjdump or no files")
        return 77
    total = failed = 0
    for path in files:
        count, wrong = compare(str(path), args)
        total += count
        failed += len(wrong)
        for text in wrong[:10]:
            print(f"{path}: {text}")
    print(f"{total} images in {len(files)} files: {failed} differences")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
