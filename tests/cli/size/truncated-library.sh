#!/bin/sh
head -c 9000 "$FIXTURES/ops.so" > cut.so && cuslim size cut.so > out.txt; echo "exit $?"
