#!/bin/sh
# Members with names that lead elsewhere, and one name twice.
python3 - <<'PY'
import os, warnings, zipfile
warnings.simplefilter("ignore")
data = open(os.environ["FIXTURES"] + "/ops.so", "rb").read()
with zipfile.ZipFile("x.whl", "w") as z:
    for name in ("../up.so", "/root.so", "a\nb.so", "twice.so", "twice.so", "\x1b[31m.so"):
        z.writestr(name, data)
PY
cuslim size --by member x.whl
