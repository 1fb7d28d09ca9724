#!/bin/sh
./run ops.so -o new.so --allow-floor newest
