"""Packs a folder into a wheel with a valid RECORD, the same bytes every time.

Usage: pack.py FOLDER NAME VERSION TAG   (the wheel is written beside this script)
"""

import base64
import hashlib
import pathlib
import sys
import zipfile


def main():
    folder, name, version, tag = pathlib.Path(sys.argv[1]), *sys.argv[2:5]
    files = {
        p.relative_to(folder).as_posix(): p.read_bytes()
        for p in sorted(folder.rglob("*"))
        if p.is_file()
    }
    info = f"{name}-{version}.dist-info"
    files[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: {version}\n"
        "Summary: A small CUDA package that ships its device code in every form\n"
        "License: Apache-2.0\n"
    ).encode()
    files[f"{info}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: pack.py\nRoot-Is-Purelib: false\nTag: {tag}\n"
    ).encode()
    lines = []
    for path, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
        lines.append(f"{path},sha256={digest},{len(data)}\n")
    lines.append(f"{info}/RECORD,,\n")
    files[f"{info}/RECORD"] = "".join(lines).encode()
    target = pathlib.Path(__file__).parent / f"{name}-{version}-{tag}.whl"
    with zipfile.ZipFile(target, "w") as wheel:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, (2024, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if path.endswith(".so") else 0o100644) << 16
            wheel.writestr(entry, data, compresslevel=9)
    print(target, target.stat().st_size)


main()
