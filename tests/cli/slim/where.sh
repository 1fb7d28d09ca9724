#!/bin/sh
./run ops.so
