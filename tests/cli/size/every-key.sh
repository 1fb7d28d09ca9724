#!/bin/sh
# Whatever the key, rows add up to the same bytes.
for key in member library section container kind arch codec source namespace group template kernel \
    part; do
    printf '%s ' $key
    cuslim size --format csv --by $key "$SAMPLE" |
        awk -F, 'NR == 1 {for (i = 1; i <= NF; i++) col[$i] = i; next}
                 {wheel += $col["wheel_bytes"]; file += $col["file_bytes"]}
                 END {print wheel, file}'
done
stat -c 'the file itself has %s' "$SAMPLE"
