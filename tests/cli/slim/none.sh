#!/bin/sh
./run ops.so -o new.so --recompress none && ./show new.so
