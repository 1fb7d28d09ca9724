#!/bin/sh
cuslim size --format csv --by library - < "$FIXTURES/rdc.cubin" && cuslim size - < "$FIXTURES/text.txt"
