#!/bin/sh
cuslim list - < $FIXTURES/plain.fatbin
