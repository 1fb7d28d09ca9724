#!/bin/sh
cuslim list --arch=sm90 $FIXTURES/plain.fatbin
