#!/bin/sh
cuslim arch explain '8.0+PTX;9.0a' --device 8.7,9.0,12.0
cuslim arch explain '8.0;9.0+PTX' --toolkit 13.0 --driver 550.54.14 --device 8.0,9.0
