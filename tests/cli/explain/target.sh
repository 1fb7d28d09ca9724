#!/bin/sh
cuslim explain sm_90a && cuslim explain compute_75 --format markdown | tail -n 6 && cuslim explain sm_17 | head -n 4
