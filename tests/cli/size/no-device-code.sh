#!/bin/sh
cuslim size "$FIXTURES/text.txt" "$FIXTURES/empty-1.0-py3-none-any.whl"
