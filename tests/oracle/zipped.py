#!/usr/bin/env python3
"""Wheels: members and sizes of cuslim against Python's zipfile.

Usage: zipped.py [WHEEL...]    default: the sample and every cached wheel
"""

import pathlib
import sys
import zipfile

import common


def check(report, cuslim, path):
    doc = common.run_json(
        [cuslim, "size", "--by", "member", "--top", "all", "--format", "json", path]
    )
    rows = {row["key"]["member"]: row for row in doc["rows"]}
    with zipfile.ZipFile(path) as z:
        infos = [i for i in z.infolist() if not i.is_dir()]
    for info in infos:
        row = rows.get(info.filename)
        if row is None:
            report.differ(path.name, f"{info.filename} has no row")
            continue
        report.equal(
            f"{path.name}: {info.filename}", "file_bytes", row["file_bytes"], info.file_size
        )
        report.equal(
            f"{path.name}: {info.filename}", "wheel_bytes", row["wheel_bytes"], info.compress_size
        )
    overhead = path.stat().st_size - sum(i.compress_size for i in infos)
    other = sum(r["wheel_bytes"] for n, r in rows.items() if n not in {i.filename for i in infos})
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
