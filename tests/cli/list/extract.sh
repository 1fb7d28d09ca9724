#!/bin/sh
cuslim list -v --extract=out $FIXTURES/ops.so > /dev/null && ls out
cuslim list --extract=loose $FIXTURES/k.ptx $FIXTURES/rdc.cubin > /dev/null && ls loose
cmp loose/k.ptx.compute_90a.ptx $FIXTURES/k.ptx
cmp loose/rdc.cubin.sm_75.cubin $FIXTURES/rdc.cubin
