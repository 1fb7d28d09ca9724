#!/bin/sh
cuslim list --format=json $FIXTURES/concat.fatbin $FIXTURES/libops.a
