#!/bin/sh
cuslim explain sm_103f --format json
