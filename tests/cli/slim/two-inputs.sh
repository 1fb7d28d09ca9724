#!/bin/sh
./run ops.so ops.o -o new.so
