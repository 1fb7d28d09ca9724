#!/bin/sh
# sm_80 devices would fall back to PTX: that is not for free.
./run ops.so -o new.so --drop sm_80; code=$?
ls new.so
exit $code
