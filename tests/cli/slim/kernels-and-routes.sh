#!/bin/sh
echo k >names && ./run ops.so -o new.so --keep-kernels names --route "*.so=9.0"
