#!/bin/sh
# What the user (or a script that builds command lines from file names) types is echoed harmlessly.
cuslim explain "$(printf '\033[31mred\033[0m\n\342\200\256gnp')"
