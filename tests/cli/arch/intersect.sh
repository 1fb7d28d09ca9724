#!/bin/sh
cuslim arch intersect --source '7.5;8.0;8.6;9.0;9.0a' --target '8.0;8.9;9.0'
cuslim arch intersect --source '8.0+PTX' --target '7.5;8.0;9.0'
cuslim arch intersect -q --source '10.0a;10.0f' --target 10.0 --to nvcc
