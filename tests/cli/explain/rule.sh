#!/bin/sh
# By slug, and by id; narrow, so that wrapping shows.
COLUMNS=60 cuslim explain shadowed-image && cuslim explain C101
