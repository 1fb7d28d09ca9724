#!/bin/sh
# What can be read is listed; the rest is said, and makes exit code 3.
mkdir in && cp $FIXTURES/plain.fatbin in/good.fatbin
head -c 300 $FIXTURES/plain.fatbin > in/short.fatbin
cp $FIXTURES/plain.fatbin in/torn.fatbin
printf "\377\377\377\377" | dd of=in/torn.fatbin bs=1 seek=6600 conv=notrunc 2>/dev/null
cuslim list --arch=sm_90 --format=json --kernels in
