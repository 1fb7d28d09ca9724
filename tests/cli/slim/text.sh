#!/bin/sh
./run "$FIXTURES/text.txt" -o new.txt && cmp "$FIXTURES/text.txt" new.txt && echo same
