#!/bin/sh
# Found from a folder below; one key is misspelt.
cd project/csrc && cuslim config --show-origin
