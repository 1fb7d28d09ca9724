#!/bin/sh
./run ops.so -o new.so --recompress none:3
