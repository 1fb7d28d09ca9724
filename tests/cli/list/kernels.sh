#!/bin/sh
cuslim list --kernels $FIXTURES/ops.so $FIXTURES/rdc.cubin $FIXTURES/k.ptx
