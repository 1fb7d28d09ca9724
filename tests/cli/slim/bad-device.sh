#!/bin/sh
./run ops.so -o new.so --for sm_90
