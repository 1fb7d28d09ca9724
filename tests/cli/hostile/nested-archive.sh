#!/bin/sh
# An archive in an archive is refused with its place.
printf '!<arch>\n%-16s%-12d%-6d%-6d%-8o%-10d`\n' inner.a/ 0 0 0 33188 "$(wc -c <"$FIXTURES/libops.a")" >outer.a
cat "$FIXTURES/libops.a" >>outer.a
cuslim size outer.a
