#!/bin/sh
# Nothing was made, so nothing is proven.
./run ops.so --dry-run --proof proof.json -q >/dev/null && ls proof.json
