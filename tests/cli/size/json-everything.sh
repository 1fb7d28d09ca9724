#!/bin/sh
cuslim size --format json --by kernel --top 2 --resources --duplicates "$SAMPLE"
