#!/bin/sh
cuslim check $FIXTURES/rdc.cubin
