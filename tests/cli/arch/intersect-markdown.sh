#!/bin/sh
cuslim arch intersect --format markdown --source '8.0+PTX;9.0a' --target '8.9 9.0'
