#!/bin/sh
cuslim size --style table --format json --top 2 "$SAMPLE"
