#!/bin/sh
cd project && cuslim config --format json -q
