#!/bin/sh
# Relocatable containers appear with -all when there are executable ones.
cuslim list --cuobjdump -lelf $FIXTURES/ops.so
cuslim list --cuobjdump -all -lelf $FIXTURES/ops.so
