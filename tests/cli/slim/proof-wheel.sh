#!/bin/sh
# The hashes in the proof are those of the files.
./run pkg-1.0-py3-none-any.whl -o new.whl --proof proof.json -q >/dev/null
python3 - <<EOF
import hashlib, json, zipfile
p = json.load(open("proof.json"))
sha = lambda b: hashlib.sha256(b).hexdigest()
old, new = "pkg-1.0-py3-none-any.whl", "new.whl"
print(p["original_sha256"] == sha(open(old, "rb").read()), p["output_sha256"] == sha(open(new, "rb").read()))
for m in p["members"]:
    print(m["member"], m["before_sha256"] == sha(zipfile.ZipFile(old).read(m["member"])),
          m["after_sha256"] == sha(zipfile.ZipFile(new).read(m["member"])))
EOF
