#!/bin/sh
# A device that the configuration promises may not be left with nothing, whatever is allowed.
echo 'devices = "8.0 9.0"' >cuslim.toml
./run ops.so -o new.so --for 9.0
