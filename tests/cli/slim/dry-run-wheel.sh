#!/bin/sh
# The same for a wheel: the compressed size too.
./run pkg-1.0-py3-none-any.whl --dry-run --format json >predicted
./run pkg-1.0-py3-none-any.whl -o new.whl --format json >done
python3 - <<EOF
import json, os
a, b = json.load(open("predicted")), json.load(open("done"))
print(a["after"] == b["after"], b["after"]["wheel_bytes"] == os.path.getsize("new.whl"))
EOF
