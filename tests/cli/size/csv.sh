#!/bin/sh
cuslim size --format csv --by arch "$SAMPLE"
