#!/bin/sh
cuslim arch lint -- nvcc -arch=sm_80 -arch=sm_86 -gencode arch=compute_90a,code=sm_100 x.cu
