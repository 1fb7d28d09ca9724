#!/bin/sh
cuslim list --cuobjdump $FIXTURES/concat.fatbin
cuslim list --cuobjdump -lelf $FIXTURES/concat.fatbin
