#!/bin/sh
./run old.so -o new.so --recompress zstd --allow-floor 535.54.03
