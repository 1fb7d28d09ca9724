#!/bin/sh
cuslim check $FIXTURES/ops.so
