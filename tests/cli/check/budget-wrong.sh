#!/bin/sh
cuslim check --budget=upload=10KiB $FIXTURES/ops.so
