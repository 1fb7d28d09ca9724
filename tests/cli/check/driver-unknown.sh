#!/bin/sh
cuslim check --driver=new $FIXTURES/plain.fatbin
