#!/bin/sh
# The code of gemm is zero afterwards: the image is still there, and smaller.
echo _Z5scalePfi >names && ./run plain.fatbin -o new.fatbin --keep-kernels names && ./show new.fatbin
