#!/bin/sh
# A device is written to, not replaced.
cuslim explain -o /dev/null && test -c /dev/null && cuslim explain C101 -o /dev/stdout | head -n 1
