#!/bin/sh
for format in markdown github html; do
    echo "--- $format"
    cuslim size --format $format --by codec,kind --top 3 "$SAMPLE" | grep -v '^[a-z@.].*{'
done
