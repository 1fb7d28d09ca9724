#!/bin/sh
./run old.so -o new.so --recompress zstd:3 --allow-floor 550.54.14 && ./show new.so
