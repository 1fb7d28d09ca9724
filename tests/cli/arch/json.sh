#!/bin/sh
cuslim arch --format json --to torch '80-real;90a;120f-real'
