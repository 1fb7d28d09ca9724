#!/bin/sh
# What a dry run predicts is what happens, byte for byte.
./run ops.so --dry-run --format json >predicted && ./run ops.so -o new.so --format json >done
python3 - <<EOF
import json, os
a, b = json.load(open("predicted")), json.load(open("done"))
print(a["after"] == b["after"], b["after"]["installed_bytes"] == os.path.getsize("new.so"))
print([m["after_bytes"] for m in a["members"]] == [m["after_bytes"] for m in b["members"]])
EOF
