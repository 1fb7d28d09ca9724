#!/bin/sh
# There is nothing left for a second run.
./run ops.so -o one.so -q >/dev/null && ./run one.so -o two.so && cmp one.so two.so && echo same
