#!/bin/sh
cuslim size --format json --by library,arch --top 3 "$SAMPLE"
