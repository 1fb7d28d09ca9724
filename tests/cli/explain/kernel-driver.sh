#!/bin/sh
# The same library under a driver that skips concatenated entries, and one too old for zstd.
cuslim explain "$SAMPLE" softmax 9.0 --driver 580.159.04 | head -n 7
cuslim explain "$SAMPLE" matmul 9.0 --driver 535.54.03 -n 1
