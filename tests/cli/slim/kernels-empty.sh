#!/bin/sh
: >names && ./run ops.so -o new.so --keep-kernels names
