#!/bin/sh
./run ops.so -o new.so --drop sm_80 --allow 8.0,8.6,8.9,8.7,8.8 && ./show new.so
