#!/bin/sh
cuslim list --format=json --kernels $FIXTURES/ops.so $FIXTURES/k.ptx
