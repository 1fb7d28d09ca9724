#!/bin/sh
./run ops.so --in-place -o new.so
