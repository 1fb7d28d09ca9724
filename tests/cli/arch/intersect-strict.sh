#!/bin/sh
cuslim arch intersect --strict --source '8.0;8.6' --target 8.7
