#!/bin/sh
cuslim list $FIXTURES/pkg-1.0-py3-none-any.whl
