#!/bin/sh
cuslim explain "$SAMPLE" no_such_kernel 9.0
