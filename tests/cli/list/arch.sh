#!/bin/sh
cuslim list --arch=sm_90a,compute_80 $FIXTURES/plain.fatbin
