#!/bin/sh
# A wider terminal shows the columns that a narrow one had to leave out.
COLUMNS=130 cuslim size --by library,kernel --top 5 "$SAMPLE" | tail -n 7
