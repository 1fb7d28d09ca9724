#!/bin/sh
./run ops.so -o new.so --no-free && cmp ops.so new.so && echo same
