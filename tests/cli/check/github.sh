#!/bin/sh
cuslim check --format=github --device=7.5 $FIXTURES/ops.so
