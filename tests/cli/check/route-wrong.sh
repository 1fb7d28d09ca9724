#!/bin/sh
cuslim check --route=9.0 $FIXTURES/plain.fatbin
