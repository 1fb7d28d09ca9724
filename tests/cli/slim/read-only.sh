#!/bin/sh
chmod 444 ops.so && ./run ops.so --in-place
