#!/bin/sh
head -c 50000 "$SAMPLE" > cut.whl && cuslim size cut.whl
