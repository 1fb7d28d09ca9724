#!/usr/bin/env python3
"""auditwheel after a cut: a wheel with a slimmed library is repaired, and the result still loads.

    repair.py CUTTER WORK_DIR     WORK_DIR as left by `run CUTTER WORK_DIR`

For each layout: the half-emptied library gets a dependency that auditwheel must bundle (so that it
rewrites names and run path with patchelf), goes into a wheel, through `auditwheel repair`, out of the
new wheel, is loaded, and edited once more.  Exit 77 when auditwheel or patchelf is missing.
"""
import base64
import hashlib
import pathlib
import shutil
import subprocess
import sys
import zipfile

LAYOUTS = ["ld", "ld-both", "ld-noseparate", "ld-relr", "gold", "lld", "lld-both", "lld-64k", "ld-end"]


def run(*command, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise SystemExit(f"FAIL {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def make_wheel(path, members):
    """A minimal wheel for this interpreter's platform."""
    info = "demo-1.0.dist-info/"
    members = dict(members)
    members["demo/__init__.py"] = b""
    members[info + "METADATA"] = b"Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n"
    members[info + "WHEEL"] = (b"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: false\n"
                               b"Tag: py3-none-linux_x86_64\n")
    record = ""
    for name, data in members.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(data)}\n"
    members[info + "RECORD"] = (record + info + "RECORD,,\n").encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        for name, data in members.items():
            z.writestr(name, data)


def one(cutter, work, layout):
    place = work / f"repair.{layout}"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    before = run(work / "loader", work / f"{layout}.elf.half")
    dep = work / "libbundled.so"
    library = place / "lib.so"
    shutil.copy(work / f"{layout}.elf.half", library)
    run("patchelf", "--add-needed", "libbundled.so", library)
    wheel = place / "demo-1.0-py3-none-linux_x86_64.whl"
    make_wheel(wheel, {"demo/lib.so": library.read_bytes()})
    out = place / "out"
    run("auditwheel", "repair", "--plat", "auto", "-w", out, wheel,
        env={**__import__("os").environ, "LD_LIBRARY_PATH": str(dep.parent)})
    repaired = next(out.glob("*.whl"))
    with zipfile.ZipFile(repaired) as z:
        z.extractall(place / "installed")
    installed = place / "installed" / "demo" / "lib.so"
    if "libbundled-" not in run("patchelf", "--print-needed", installed):
        raise SystemExit(f"FAIL {layout}: nothing was bundled, so nothing was tested")
    if run(work / "loader", installed) != before:
        raise SystemExit(f"FAIL {layout}: other containers after repair")
    again = place / "again.so"
    run(cutter, installed, again, "empty")
    shutil.copy(again, installed)
    if set(run(work / "loader", installed).split()) != {"empty"}:
        raise SystemExit(f"FAIL {layout}: second cut")
    print(f"ok   repair {layout}: {repaired.name}")


def main():
    cutter, work = (pathlib.Path(a).resolve() for a in sys.argv[1:3])
    if not shutil.which("auditwheel") or not shutil.which("patchelf"):
        print("skip: no auditwheel or no patchelf")
        return 77
    source = work / "bundled.c"
    source.write_text("int bundled(void) { return 1; }\n")
    run("gcc", "-shared", "-fPIC", "-o", work / "libbundled.so", source)
    for layout in LAYOUTS:
        if (work / f"{layout}.elf.half").exists():
            one(cutter, work, layout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
