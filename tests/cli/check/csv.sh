#!/bin/sh
cuslim check --format=csv --device=8.0,9.0 $SAMPLE
