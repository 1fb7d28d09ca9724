#!/bin/sh
cuslim arch explain --format json '8.0;8.6' --device 8.7,8.9,13.0
