#!/bin/sh
# A library without its end.
head -c 12000 ops.so >torn.so && ./run torn.so -o new.so
