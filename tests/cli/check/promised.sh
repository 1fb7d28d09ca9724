#!/bin/sh
cuslim check --device=8.0,9.0,12.1 --driver=550.54.14 $FIXTURES/ops.so
