#!/bin/sh
cuslim check --ignore=shadowed-imagee $FIXTURES/plain.fatbin
