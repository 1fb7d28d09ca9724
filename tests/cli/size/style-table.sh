#!/bin/sh
cuslim size --style table --top 4 "$SAMPLE"
