#!/bin/sh
# Files that are no files must not be waited for.
mkdir pkg && cp "$FIXTURES/ops.so" pkg/ && mkfifo pkg/pipe && ln -s /dev/zero pkg/zero
timeout 20 cuslim size --by member --format csv pkg
