#!/bin/sh
# A vendor library among others.
mkdir pkg && mv ops.so pkg && cp pkg/ops.so pkg/libnccl.so.2 && ./run pkg -o new
