#!/bin/sh
./run ops.so -o new.so --proof proof.json -q >/dev/null && cat proof.json
