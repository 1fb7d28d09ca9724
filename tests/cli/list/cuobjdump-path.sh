#!/bin/sh
# The path is made absolute and nothing else; a blank in it makes the names of -lelf odd.
mkdir "a b" && cp $FIXTURES/plain.fatbin "a b/x.y.bin"
cuslim list --cuobjdump -lelf -lptx "a b/../a b/x.y.bin"
cuslim list --cuobjdump -lptx "a b/../a b/x.y.bin"
