#!/bin/sh
# Native, compiled, and nothing; then the relocatable inputs of a link beside their result.
cuslim explain "$SAMPLE" softmax 8.9
cuslim explain "$SAMPLE" 'axpy_kernel<double' 12.0 -n 1
cuslim explain "$SAMPLE" gelu_table 8.0 -n 1
cuslim explain "$SAMPLE" histogram 9.0
