#!/bin/sh
# A Windows library is not "no kernels".
printf 'MZ\220\000\003\000\000\000\004\000\000\000\377\377\000\000' > lib.pyd
head -c 44 /dev/zero >> lib.pyd
printf '\100\000\000\000PE\000\000\144\206\003\000' >> lib.pyd
head -c 400 /dev/zero >> lib.pyd
cuslim size lib.pyd
