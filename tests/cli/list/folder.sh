#!/bin/sh
# Files of every kind; what holds no device code has no table.
cd $FIXTURES && cuslim list .
