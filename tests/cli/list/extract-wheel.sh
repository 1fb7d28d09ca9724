#!/bin/sh
cuslim list -q --extract=out $FIXTURES/pkg-1.0-py3-none-any.whl $FIXTURES/libops.a > /dev/null
ls out
