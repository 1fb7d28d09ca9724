#!/bin/sh
# Nothing in the second container runs on 9.0 anyway; nothing at all runs on 5.0.
./run plain.fatbin -o new.fatbin --for 5.0 && ./show new.fatbin
