#!/bin/sh
# Up to the driver that the configuration promises, the floor may rise.
echo 'driver = "550.54.14"' >cuslim.toml
./run old.so -o new.so --recompress zstd:3 -q | tail -n 8
