#!/bin/sh
cuslim check --warn-only --device=7.0 $FIXTURES/plain.fatbin
