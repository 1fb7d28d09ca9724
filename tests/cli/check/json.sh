#!/bin/sh
cuslim check --format=json --device=8.9,12.0 $FIXTURES/ops.so
