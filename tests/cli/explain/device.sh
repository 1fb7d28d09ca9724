#!/bin/sh
cuslim explain 8.7 && cuslim explain 12.1 --format csv && cuslim explain 99.9 | tail -n 3
