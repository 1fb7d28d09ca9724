#!/bin/sh
# Member names are a stranger's; the files stay in the folder.
python3 - <<EOF
import zipfile
data = open("$FIXTURES/plain.fatbin", "rb").read()
with zipfile.ZipFile("evil.whl", "w") as z:
    for name in ("../../up", "/etc/abs", "..", "a/b", "a.b", "-rf", ".hid", "sp ace\t*",
                 "x" * 300):
        z.writestr(name, data)
EOF
mkdir in && cd in && cuslim list -q --arch=sm_80 --extract=out ../evil.whl > /dev/null
ls -A . .. out
