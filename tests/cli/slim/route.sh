#!/bin/sh
# Only 9.0 loads it, so sm_80 and the PTX are unreachable.
./run ops.so -o new.so --route "ops.so=9.0" && ./show new.so
