#!/bin/sh
./run libops.a -o new.a && ./show new.a
