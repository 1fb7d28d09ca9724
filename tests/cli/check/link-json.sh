#!/bin/sh
cuslim check --link --format=json --select=E $FIXTURES/ops.o
