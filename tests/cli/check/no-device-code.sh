#!/bin/sh
cuslim check --device=all $FIXTURES/empty-1.0-py3-none-any.whl
