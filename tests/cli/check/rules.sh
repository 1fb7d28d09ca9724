#!/bin/sh
cuslim check --select=C --ignore=narrower-container --device=7.0 $FIXTURES/plain.fatbin
