#!/bin/sh
cuslim list --cuobjdump -lelf -lptx $FIXTURES/libops.a
