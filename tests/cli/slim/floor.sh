#!/bin/sh
./run old.so -o new.so --recompress zstd
