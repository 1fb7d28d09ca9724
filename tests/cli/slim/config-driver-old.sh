#!/bin/sh
echo 'driver = "535.54.03"' >cuslim.toml
./run old.so -o new.so --recompress zstd:3
