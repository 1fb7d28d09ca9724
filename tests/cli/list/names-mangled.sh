#!/bin/sh
cuslim list --kernels --names=mangled --arch=sm_80 $FIXTURES/plain.fatbin
