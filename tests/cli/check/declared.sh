#!/bin/sh
cuslim check --declared='8.0+PTX;9.0a' $FIXTURES/ops.so
