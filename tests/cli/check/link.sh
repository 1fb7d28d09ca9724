#!/bin/sh
cuslim check --link --linker-script=last.ld --select=E $FIXTURES/ops.o $FIXTURES/libops.a && cat last.ld
