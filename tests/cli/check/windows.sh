#!/bin/sh
mkdir in && printf "x" >in/b.py
printf "MZ\220\000\003\000\000\000\004\000\000\000\377\377\000\000" >in/a.pyd
head -c 44 /dev/zero >>in/a.pyd
printf "\100\000\000\000PE\000\000\144\206\003\000" >>in/a.pyd
head -c 400 /dev/zero >>in/a.pyd
cuslim check in
