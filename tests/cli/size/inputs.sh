#!/bin/sh
# Each kind of input is told by its content; here the names say nothing.
for f in ops.so ops.o libops.a plain.fatbin concat.fatbin rdc.cubin k.ptx text.txt nothing; do
    cp "$FIXTURES/$f" input
    printf '%s: ' $f
    cuslim size --format json input | python3 -c 'import json, sys
d = json.load(sys.stdin)
t = d["totals"]
print(d["inputs"][0]["kind"], t["images"], "images,", t["distinct_kernels"], "kernels,",
      t["code_bytes"], "code,", t["installed_bytes"] == d["inputs"][0]["bytes"])'
done
