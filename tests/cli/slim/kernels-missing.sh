#!/bin/sh
./run ops.so -o new.so --keep-kernels no-such-file
