#!/bin/sh
cuslim check --link $FIXTURES/text.txt
