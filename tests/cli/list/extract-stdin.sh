#!/bin/sh
cuslim list --extract=out - < $FIXTURES/plain.fatbin
