#!/bin/sh
# A meter only when asked for: stderr is no terminal here.  stdout is the same with and without.
cuslim size "$SAMPLE" > out.txt 2> quiet.txt && wc -c < quiet.txt
cuslim size --progress=always "$SAMPLE" 2> meter.txt | cmp - out.txt
grep -q ' %  .* of 280.6 KiB' meter.txt && echo drawn
tail -c 4 meter.txt | od -An -c
cuslim size --progress=always -q "$SAMPLE" 2>&1 > /dev/null | wc -c
