#!/bin/sh
cuslim list $FIXTURES/libops.a
