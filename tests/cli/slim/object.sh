#!/bin/sh
./run ops.o -o new.o && ./show new.o
