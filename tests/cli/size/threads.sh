#!/bin/sh
# The number of threads changes nothing.
for j in 1 2 7; do cuslim size --format json --by kernel,arch -j $j "$SAMPLE" | sha256sum; done | uniq | wc -l
