#!/bin/sh
cuslim size --by libary "$SAMPLE"
