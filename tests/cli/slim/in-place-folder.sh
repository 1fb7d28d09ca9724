#!/bin/sh
mkdir pkg && mv ops.so pkg && cp "$FIXTURES/text.txt" pkg
./run pkg --in-place && find pkg | sort && ./show pkg
