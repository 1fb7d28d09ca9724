#!/bin/sh
cuslim config && cuslim config --format json
