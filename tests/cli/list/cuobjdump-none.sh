#!/bin/sh
cuslim list --cuobjdump $FIXTURES/text.txt
cuslim list --cuobjdump -lptx $FIXTURES/rdc.cubin
cuslim list --cuobjdump -lelf -lptx -q $FIXTURES/rdc.cubin
