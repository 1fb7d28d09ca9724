#!/bin/sh
# A row for each image; with --kernels one for each kernel.
cuslim list --format=csv $FIXTURES/pkg-1.0-py3-none-any.whl
cuslim list --format=csv --kernels $FIXTURES/plain.fatbin
