#!/bin/sh
cuslim check --route='pkg/*.so=9.0' --device=8.0,9.0 $FIXTURES/pkg-1.0-py3-none-any.whl
