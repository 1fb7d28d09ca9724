#!/bin/sh
cuslim list $FIXTURES/ops.so
