#!/bin/sh
./run ops.so -o new.so --route "ops.so=not 9.0" && ./show new.so
