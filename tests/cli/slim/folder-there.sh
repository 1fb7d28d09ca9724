#!/bin/sh
# A folder is never written over.
mkdir pkg new && mv ops.so pkg && ./run pkg -o new
