#!/bin/sh
./run ops.so -o new.so --recompress concat --allow-floor unknown && ./show new.so
