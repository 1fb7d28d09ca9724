#!/bin/sh
./run ops.so --in-place && ls && ./show ops.so
