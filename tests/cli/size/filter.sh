#!/bin/sh
cuslim size --filter softmax --arch sm_90a,sm_120 --by arch,kernel "$SAMPLE"
