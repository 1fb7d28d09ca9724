#!/bin/sh
cuslim explain "$SAMPLE" softmax
