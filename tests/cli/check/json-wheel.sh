#!/bin/sh
cuslim check --format=json $SAMPLE
