#!/bin/sh
# Devices still to come would lose their PTX.
./run ops.so -o new.so --ptx drop --allow 8.7,10.0,10.3,11.0,12.0,12.1
