#!/bin/sh
head -c 300 $FIXTURES/plain.fatbin > short.fatbin && cuslim list short.fatbin
