"""What the oracles share: where things are, how differences are reported.

An oracle compares cuslim with another reader.  Each difference is printed with its class; a class
that is listed in EXPLAINED is counted but does not fail.  Exit 0: agreement; 1: unexplained differences;
77: everything was skipped (a tool or a file is absent).
"""

import collections
import glob
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CACHE = pathlib.Path(os.environ.get("CUSLIM_CACHE", pathlib.Path.home() / ".cache/cuslim"))
TOOLKIT = pathlib.Path(os.environ.get("CUDA_HOME", "/usr/local/cuda"))
SAMPLE = ROOT / "examples/sample/cuslim_sample-1.0-py3-none-manylinux_2_28_x86_64.whl"

# Why other readers differ where cuslim is right; docs/format/cuobjdump.md has the evidence.
EXPLAINED = {
    "cuobjdump-refuses": "cuobjdump stops with 'Invalid ELF' where other readers go on",
    "peer-opaque-concat": "the peer does not read concatenated entries",
    "peer-merges-names": "the peer adds up kernels whose demangled names are equal",
    "peer-cannot-read": "the peer fails on the whole file",
}


def cuslim():
    path = os.environ.get("CUSLIM") or str(ROOT / "build/cuslim")
    return path if os.access(path, os.X_OK) else None


def tool(name, *places):
    for place in places:
        if os.access(place, os.X_OK):
            return str(place)
    return shutil.which(name)


def cuobjdump():
    return tool(
        "cuobjdump",
        CACHE / "x/nvidia_cuda_cuobjdump/nvidia/cu13/bin/cuobjdump",
        TOOLKIT / "bin/cuobjdump",
    )


def cubloaty():
    return tool("cubloaty", CACHE / "venv/bin/cubloaty")


def wheel(name):
    found = sorted(glob.glob(str(CACHE / f"wheels/{name}-*.whl")))
    return pathlib.Path(found[0]) if found else None


def unpacked(name):
    """Folder with the files of a cached wheel; None when the wheel is not there."""
    folder = CACHE / "x" / name
    if folder.is_dir():
        return folder
    path = wheel(name)
    if not path:
        return None
    folder.mkdir(parents=True)
    with zipfile.ZipFile(path) as z:
        z.extractall(folder)
    return folder


_sample = None


def sample():
    """Folder with the files of the checked-in sample wheel."""
    global _sample
    if _sample is None:
        _sample = tempfile.TemporaryDirectory()
        with zipfile.ZipFile(SAMPLE) as z:
            z.extractall(_sample.name)
    return pathlib.Path(_sample.name)


SETS = {
    "sample": lambda: sorted(sample().rglob("*.so")),
    "sgl_kernel": lambda: libraries("sgl_kernel"),
    "vllm": lambda: libraries("vllm"),
    "bitsandbytes": lambda: [p for p in libraries("bitsandbytes") if "_cuda" in p.name],
    "xformers": lambda: libraries("xformers"),
    "cupy": lambda: [
        p for p in libraries("cupy_cuda12x", "cupy") if p.name.startswith(("cub.", "thrust."))
    ],
    "torch": lambda: [p for p in libraries("torch") if p.name.startswith("libtorch_cuda")],
    "toolkit": lambda: sorted(
        p
        for p in (TOOLKIT / "lib64").glob("*.so.*")
        if p.is_file() and p.stat().st_size > 1 << 20
    ),
}


def libraries(name, folder=None):
    root = unpacked(folder or name)
    if root is None:
        return []
    return sorted(p for p in root.rglob("*.so*") if p.is_file() and p.suffix != ".py")


def run(args, check=False):
    p = subprocess.run([str(a) for a in args], capture_output=True, check=check)
    return p.returncode, p.stdout, p.stderr


def run_json(args):
    code, out, err = run(args)
    if code not in (0, 1) or not out:
        raise RuntimeError(
            f"{args[0]} exited {code}: {err.decode(errors='replace').strip()[:300]}"
        )
    return json.loads(out)


def shorten(text, width=240):
    """Kernel names can have thousands of characters: keep both ends."""
    return text if len(text) <= width else f"{text[: width // 2]} ... {text[-width // 2 :]}"


class Report:
    def __init__(self, name, limit=20):
        self.name, self.limit = name, limit
        self.good, self.bad, self.skipped = 0, 0, 0
        self.explained = collections.Counter()

    def ok(self, count=1):
        self.good += count

    def equal(self, where, what, ours, theirs, reason=None):
        if ours == theirs:
            self.good += 1
            return True
        self.differ(where, f"{what}: cuslim {ours!r}, other {theirs!r}", reason)
        return False

    def differ(self, where, text, reason=None):
        if reason in EXPLAINED:
            self.explained[reason] += 1
            label = f"explained ({reason})"
        else:
            self.bad += 1
            label = "UNEXPLAINED"
        seen = self.bad if label == "UNEXPLAINED" else self.explained[reason]
        if seen <= self.limit:
            print(f"{label}: {shorten(where)}: {shorten(text)}")

    def skip(self, what):
        self.skipped += 1
        print(f"skipped: {what}")

    def finish(self):
        for reason, count in sorted(self.explained.items()):
            print(f"{count} x {reason}: {EXPLAINED[reason]}")
        print(f"{self.name}: {self.good} passed, {self.bad} failed, {self.skipped} skipped")
        sys.exit(1 if self.bad else 0 if self.good or not self.skipped else 77)


def need(report, **tools):
    """Ends the run as skipped when a named tool is None."""
    missing = [name for name, path in tools.items() if not path]
    if missing:
        report.skip(f"no {', '.join(missing)}")
        report.finish()


def chosen(argv, default):
    """Names of file sets from the command line."""
    names = [a for a in argv[1:] if not a.startswith("-")] or default
    for name in names:
        if name not in SETS:
            sys.exit(f"unknown set {name}; known: {', '.join(SETS)}")
    return names
