#!/bin/sh
# A folder with a loop of links, and a library twice.
mkdir -p pkg/sub && cp "$FIXTURES/ops.so" pkg/a.so && cp "$FIXTURES/ops.so" pkg/sub/b.so
ln -s .. pkg/sub/up && ln -s nowhere pkg/dangling
cuslim size --by library --format csv pkg
