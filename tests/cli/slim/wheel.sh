#!/bin/sh
./run pkg-1.0-py3-none-any.whl -o new.whl && ./show new.whl && python3 -m zipfile -t new.whl &&
    python3 - <<EOF
import base64, csv, hashlib, io, zipfile
wheel = zipfile.ZipFile("new.whl")
for path, digest, size in csv.reader(io.StringIO(wheel.read("pkg-1.0.dist-info/RECORD").decode())):
    if digest:
        data = wheel.read(path)
        want = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        print(path, digest == "sha256=" + want, size == str(len(data)))
EOF
