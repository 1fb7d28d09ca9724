#!/bin/sh
cuslim check --declared='8.0 9.0b' $FIXTURES/plain.fatbin
