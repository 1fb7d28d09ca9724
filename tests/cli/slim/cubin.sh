#!/bin/sh
# A cubin has nothing to drop; it is copied.
./run "$FIXTURES/rdc.cubin" -o new.cubin && cmp "$FIXTURES/rdc.cubin" new.cubin && echo same
