#!/bin/sh
cp pkg-1.0-py3-none-any.whl nvidia_cublas-1.0-py3-none-any.whl
./run nvidia_cublas-1.0-py3-none-any.whl -o new.whl
