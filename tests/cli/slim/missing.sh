#!/bin/sh
./run no-such-file.so -o new.so
