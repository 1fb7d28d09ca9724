#!/bin/sh
cuslim arch intersect --format json --source '8.0+PTX;9.0a' --target '7.5 8.9 9.0 12.0'
