#!/bin/sh
./run ops.so -o new.so --for 9.0 && ./show new.so
