#!/bin/sh
test -c /dev/full || exit 77
cuslim explain > /dev/full
