#!/bin/sh
# A form that would raise the floor is refused also where it comes from the configuration.
echo 'compress = "size"' >cuslim.toml
./run old.so -o new.so
