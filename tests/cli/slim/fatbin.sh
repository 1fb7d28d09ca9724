#!/bin/sh
./run plain.fatbin -o new.fatbin && ./show new.fatbin
