#!/bin/sh
mkdir pkg && mv ops.so pkg && chmod 444 pkg/ops.so && ./run pkg --in-place
