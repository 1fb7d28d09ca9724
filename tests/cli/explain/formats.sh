#!/bin/sh
for format in csv markdown github html; do
    echo "--- $format"
    cuslim explain over-budget --format $format
done
