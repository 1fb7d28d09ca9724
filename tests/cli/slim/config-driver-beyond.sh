#!/bin/sh
# The flag wins, but not in silence.
echo 'driver = "535.54.03"' >cuslim.toml
./run old.so -o new.so --recompress zstd:3 --allow-floor 550.54.14 >/dev/null
