#!/bin/sh
./run ops.so -o new.so --route sm90
