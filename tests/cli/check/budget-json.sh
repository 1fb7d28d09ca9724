#!/bin/sh
cuslim check --select=B --budget=wheel=10KiB --format=json $FIXTURES/pkg-1.0-py3-none-any.whl
