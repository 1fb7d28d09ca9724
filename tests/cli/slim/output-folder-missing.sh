#!/bin/sh
./run ops.so -o nowhere/new.so
