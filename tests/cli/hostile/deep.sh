#!/bin/sh
# A hundred folders in each other.
path=top
for i in 0 1 2 3 4 5 6 7 8 9; do path=$path/d/d/d/d/d/d/d/d/d/d; done
mkdir -p "$path" && cp "$FIXTURES/ops.so" "$path/" && timeout 20 cuslim size top
