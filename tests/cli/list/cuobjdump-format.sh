#!/bin/sh
cuslim list --cuobjdump --format=json $FIXTURES/ops.so
