#!/usr/bin/env python3
"""Slimmed wheels before those who handle wheels: zipfile, pip, uv, check-wheel-contents, twine, auditwheel.

Usage: installers.py [WHEEL...]    default: the sample and, when cached, bitsandbytes

Each wheel is slimmed in two ways.  What a tool says about the slimmed one it must have said about the
original too; what is installed must be what the wheel holds, and what RECORD says; after auditwheel's
repair (and its strip) every image must be there still.  Tools: from PATH, or from CUSLIM_TOOLS, a folder.
"""

import base64
import csv
import ctypes
import hashlib
import io
import os
import pathlib
import re
import sys
import tempfile
import zipfile

import common

WAYS = {
    "free": [],
    "zstd": ["--recompress", "zstd:3", "--allow-floor", "550.54.14"],
}
# What auditwheel must not look for: drivers and what pip brings along.
EXCLUDE = ["libcuda.so.1", "libcudart*", "libcublas*", "libcusparse*", "libnv*", "libamd*", "libhip*",
           "libroc*", "libsycl*", "libze*", "libsvml*", "libintl*", "libimf*", "libirng*", "libiomp*",
           "libdnnl*", "libmkl*", "libOpenCL*", "libur*"]


def tool(name):
    folder = os.environ.get("CUSLIM_TOOLS")
    return common.tool(name, *([pathlib.Path(folder) / name] if folder else []))


def findings(args, wheel):
    """What a linter says, without the wheel's path."""
    code, out, err = common.run([*args, wheel])
    text = re.sub(r"\x1b\[[0-9;]*m", "", (out + err).decode(errors="replace"))
    return code, sorted({line.replace(str(wheel.parent), "").strip() for line in text.splitlines()})


def record_problems(read, record):
    for path, digest, size in csv.reader(io.StringIO(record)):
        if not digest:
            continue
        data = read(path)
        if data is None:
            yield f"{path} is not there"
            continue
        kind, _, want = digest.partition("=")
        got = base64.urlsafe_b64encode(hashlib.new(kind, data).digest()).rstrip(b"=").decode()
        if got != want or int(size) != len(data):
            yield f"{path} is not what RECORD says"


def check_zip(report, wheel):
    with zipfile.ZipFile(wheel) as z:
        report.equal(wheel.name, "testzip", z.testzip(), None)
        record = next(n for n in z.namelist() if n.endswith(".dist-info/RECORD"))
        names = set(z.namelist())
        for problem in record_problems(lambda p: z.read(p) if p in names else None,
                                       z.read(record).decode()):
            report.differ(wheel.name, problem)
        report.ok()


def check_installed(report, who, wheel, folder):
    """Every file as in the wheel; RECORD as the installer wrote it."""
    with zipfile.ZipFile(wheel) as z:
        for info in z.infolist():
            if info.is_dir() or info.filename.endswith("/RECORD"):
                continue
            path = folder / info.filename
            same = path.is_file() and path.read_bytes() == z.read(info)
            report.equal(f"{who}: {wheel.name}", info.filename, same, True)
    record = next(folder.glob("*.dist-info/RECORD"))

    def read(path):
        file = folder / path
        return file.read_bytes() if file.is_file() else None

    for problem in record_problems(read, record.read_text()):
        report.differ(f"{who}: {wheel.name}", problem)


def installed_by(report, wheel, scratch):
    uv = tool("uv")
    common_words = ["--no-deps", "--target"]
    installers = {"pip": [sys.executable, "-m", "pip", "install", "-q", "--no-index",
                          "--no-warn-conflicts", "--disable-pip-version-check", *common_words]}
    if uv:
        installers["uv"] = [uv, "pip", "install", "-q", "--offline", "--no-cache", "--python",
                            sys.executable, *common_words]
    else:
        report.skip("uv is not there")
    for who, words in installers.items():
        folder = scratch / f"{who}-{wheel.stem}"
        code, out, err = common.run([*words, folder, wheel])
        if report.equal(f"{who}: {wheel.name}", "install", code, 0):
            check_installed(report, who, wheel, folder)
        else:
            print((out + err).decode(errors="replace")[-500:])


def linted(report, original, wheel):
    for name, words in (("check-wheel-contents", []), ("twine", ["check"])):
        program = tool(name)
        if not program:
            report.skip(f"{name} is not there")
            continue
        before, after = findings([program, *words], original), findings([program, *words], wheel)
        report.equal(f"{name}: {wheel.name}", "exit status", after[0], before[0])
        new = [line for line in after[1] if line not in before[1]]
        report.equal(f"{name}: {wheel.name}", "new findings", new, [])


def images(cuslim, wheel):
    doc = common.run_json([cuslim, "list", "--format", "json", wheel])
    return sorted((i["member"], i["target"], i["codec"], i["image_bytes"]) for i in doc["images"])


def loads(path):
    """None when the library cannot be judged here; it needs others that are not installed."""
    try:
        ctypes.CDLL(str(path), mode=os.RTLD_NOW | os.RTLD_LOCAL)
    except OSError as error:
        return None if "cannot open shared object file" in str(error) else False
    return True


def repaired(report, cuslim, wheel, scratch):
    auditwheel = tool("auditwheel")
    if not auditwheel or not tool("patchelf"):
        report.skip("auditwheel or patchelf is not there")
        return
    exclude = [w for name in EXCLUDE for w in ("--exclude", name)]
    for words in ([], ["--strip"]):
        out = scratch / f"repaired{len(words)}-{wheel.stem}"
        code, _, err = common.run([auditwheel, "repair", "--plat", "auto", *exclude, *words,
                                   "-w", out, wheel])
        where = f"auditwheel repair {' '.join(words)}: {wheel.name}"
        made = list(out.glob("*.whl"))
        if not report.equal(where, "exit status", code, 0) or not made:
            print(err.decode(errors="replace")[-500:])
            continue
        report.equal(where, "images", images(cuslim, made[0]), images(cuslim, wheel))
        check_zip(report, made[0])
        with zipfile.ZipFile(made[0]) as z:
            z.extractall(out)
        for path in sorted(out.rglob("*.so")):
            verdict = loads(path)
            if verdict is not None:
                report.equal(where, f"{path.name} loads", verdict, True)


def check(report, cuslim, original, scratch):
    linters_copy = scratch / "original" / original.name
    linters_copy.parent.mkdir(exist_ok=True)
    if not linters_copy.exists():
        linters_copy.symlink_to(original)
    for way, words in WAYS.items():
        folder = scratch / way
        folder.mkdir(exist_ok=True)
        wheel = folder / original.name
        code, _, err = common.run([cuslim, "slim", original, "-o", wheel, "-q", *words])
        if not report.equal(f"{way}: {original.name}", "slim", code, 0):
            print(err.decode(errors="replace"))
            continue
        check_zip(report, wheel)
        linted(report, linters_copy, wheel)
        installed_by(report, wheel, folder)
        repaired(report, cuslim, wheel, folder)


def main():
    os.environ["COLUMNS"] = "1000"  # tools wrap what they say
    report = common.Report("oracle installers")
    cuslim = common.cuslim()
    if not cuslim:
        report.skip("cuslim is not built")
        report.finish()
    wheels = [pathlib.Path(p).resolve() for p in sys.argv[1:]] or [
        p for p in (common.SAMPLE, common.wheel("bitsandbytes")) if p and p.exists()
    ]
    with tempfile.TemporaryDirectory() as scratch:
        for number, wheel in enumerate(wheels):
            folder = pathlib.Path(scratch) / str(number)
            folder.mkdir()
            check(report, cuslim, wheel, folder)
    report.finish()


if __name__ == "__main__":
    main()
