#!/bin/sh
# Files without device code are no errors.
printf 'import os\n' >a.py && : >empty && mkdir folder && cp /bin/true true
for f in a.py empty folder true; do cuslim list "$f" || echo "exit $?"; done
