#!/bin/sh
cuslim explain "$SAMPLE" softmax sm_90
