#!/bin/sh
cuslim list --cuobjdump $FIXTURES/ops.so
