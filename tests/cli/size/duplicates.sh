#!/bin/sh
cuslim size --duplicates --top 3 --by arch "$SAMPLE" | tail -n 7
