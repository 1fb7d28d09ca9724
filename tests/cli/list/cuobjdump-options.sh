#!/bin/sh
cuslim list -lelf $FIXTURES/ops.so
