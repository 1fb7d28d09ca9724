#!/bin/sh
# No device code: nothing listed, and no failure.
cuslim list --format=json $FIXTURES/text.txt $FIXTURES/nothing
