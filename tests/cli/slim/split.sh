#!/bin/sh
# Concatenated entries become plain ones, and the floor falls.
./run ops.so -o new.so --split-concatenated && ./show new.so
