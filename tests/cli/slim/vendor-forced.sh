#!/bin/sh
cp ops.so libcublas.so.12 && ./run libcublas.so.12 -o new.so --force-vendor -q >/dev/null &&
    ./run ops.so -o other.so -q >/dev/null && cmp other.so new.so && echo same
