#!/bin/sh
# Routes of the configuration, and one more.
printf '[[route]]\nlibrary = "ops.so"\ndevices = "9.0"\n' >cuslim.toml
./run ops.so -o one.so -q >/dev/null && ./show one.so
./run ops.so -o two.so -q --route 'ops.so=10.0' >/dev/null && ./show two.so
