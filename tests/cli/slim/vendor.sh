#!/bin/sh
cp ops.so libcublas.so.12 && ./run libcublas.so.12 -o new.so
