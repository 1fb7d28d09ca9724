#!/bin/sh
# The same as JSON; the input is in another folder, so that its path does not matter.
./run ops.so -o new.so --format json
