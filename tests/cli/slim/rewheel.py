#!/usr/bin/env python3
"""Writes a wheel again with something wrong: rewheel.py IN OUT HOW [MEMBER FILE]"""
import base64
import hashlib
import sys
import zipfile

source, target, how = sys.argv[1:4]
old = zipfile.ZipFile(source)
data = {name: old.read(name) for name in old.namelist()}
record = next(name for name in data if name.endswith(".dist-info/RECORD"))
rows = data[record].decode().splitlines()
if how == "wrong-hash":
    library = next(i for i, row in enumerate(rows) if ".so," in row)
    name, _, size = rows[library].split(",")
    rows[library] = f"{name},sha256={'A' * 43},{size}"
elif how == "no-row":
    rows = [row for row in rows if ".so," not in row]
elif how == "replace":
    member, path = sys.argv[4:6]
    data[member] = open(path, "rb").read()
    digest = base64.urlsafe_b64encode(hashlib.sha256(data[member]).digest()).rstrip(b"=").decode()
    rows = [f"{member},sha256={digest},{len(data[member])}" if row.startswith(member + ",") else row
            for row in rows]
elif how == "sign":
    data[record + ".jws"] = b"{}"
data[record] = ("\n".join(rows) + "\n").encode()
if how == "no-record":
    del data[record]
with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
    for name, content in data.items():
        new.writestr(zipfile.ZipInfo(name), content)
