#!/bin/sh
cd "$(dirname "$SAMPLE")" && cuslim size --top 6 "$(basename "$SAMPLE")"
