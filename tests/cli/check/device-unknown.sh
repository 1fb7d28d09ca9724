#!/bin/sh
cuslim check --device=9 $FIXTURES/plain.fatbin
