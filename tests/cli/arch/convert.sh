#!/bin/sh
cuslim arch --to cmake '8.0;9.0a+PTX'
cuslim arch --to nvcc '80-real;90a-virtual'
cuslim arch --to torch -- nvcc -O3 -gencode 'arch=compute_90,code=[sm_90,compute_90]' x.cu
cuslim arch --to torch --from flashinfer '8.9 9.0 12.0'
cuslim arch --to targets --toolkit 13.0 all-major
cuslim arch --to torch --native 9.0,10.0 native
cuslim arch --to torch --toolkit 13.0 '10.1a;9.0a'
echo '8.0;9.0' | cuslim arch --to nvcc -
cuslim arch --flags torch '9.0+PTX 8.0'
cuslim arch --flags cmake '80;90a-real'
cuslim arch --flags vllm '8.0+PTX'
