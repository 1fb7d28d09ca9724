#!/bin/sh
# The free edits: sm_90 is shadowed by sm_90a, sm_80 is stored raw.
./run ops.so -o new.so && ./show new.so && cmp ops.so "$FIXTURES/ops.so"
