#!/bin/sh
# Nothing is replaced, and nothing written, unless --force says so.
cuslim list -q --extract=out --arch=sm_80 $FIXTURES/plain.fatbin > /dev/null
cuslim list -q --extract=out $FIXTURES/plain.fatbin
ls out
cuslim list -q --extract=out --force $FIXTURES/plain.fatbin > /dev/null && ls out
