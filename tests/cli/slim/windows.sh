#!/bin/sh
printf "MZ\220\0\3\0\0\0\4\0\0\0" >ops.dll && head -c 4096 /dev/zero >>ops.dll && ./run ops.dll -o new.dll
