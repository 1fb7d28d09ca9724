#!/bin/sh
./run ops.so -o new.so --drop sm80
