#!/bin/sh
# What cannot be read fails the gate.
cp $FIXTURES/plain.fatbin torn.fatbin
printf "\377\377\377\377" | dd of=torn.fatbin bs=1 seek=6600 conv=notrunc 2>/dev/null
cuslim check torn.fatbin
