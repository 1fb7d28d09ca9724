#!/bin/sh
./run ops.so --dry-run && test ! -e new.so
