#!/usr/bin/env python3
"""Wheels: members and sizes of cuslim against Python's zipfile.

Usage: zipped.py [WHEEL...]    default: the sample and every cached wheel
"""

import collections
import pathlib
import sys
import zipfile

import common


def check(report, cuslim, path):
    doc = common.run_json(
        [cuslim, "size", "--by", "member", "--top", "all", "--format", "json", path]
    )
    with zipfile.ZipFile(path) as z:
        infos = [i for i in z.infolist() if not i.is_dir()]
    # The objects of an archive have rows of their own, "lib.a:obj.o": they count for the archive.
    names = {i.filename for i in infos}
    file_bytes, wheel_bytes = collections.Counter(), collections.Counter()
    for row in doc["rows"]:
        member = row["key"]["member"]
        owner = member if member in names else member.split(":")[0]
        file_bytes[owner] += row["file_bytes"]
        wheel_bytes[owner] += row["wheel_bytes"]
    for info in infos:
        where = f"{path.name}: {info.filename}"
        report.equal(where, "file_bytes", file_bytes[info.filename], info.file_size)
        report.equal(where, "wheel_bytes", wheel_bytes[info.filename], info.compress_size)
    overhead = path.stat().st_size - sum(i.compress_size for i in infos)
    other = sum(size for name, size in wheel_bytes.items() if name not in names)
    report.equal(path.name, "structure of the archive", other, overhead)
    report.equal(path.name, "wheel_bytes", doc["totals"]["wheel_bytes"], path.stat().st_size)


def main():
    report = common.Report("oracle zip")
    cuslim = common.cuslim()
    common.need(report, cuslim=cuslim)
    paths = [pathlib.Path(a) for a in sys.argv[1:]]
    if not paths:
        paths = [common.SAMPLE, *sorted((common.CACHE / "wheels").glob("*.whl"))]
        if len(paths) == 1:
            report.skip("no cached wheels")
    for path in paths:
        check(report, cuslim, path)
    report.finish()


main()
