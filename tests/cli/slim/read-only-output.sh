#!/bin/sh
touch new.so && chmod 444 new.so && ./run ops.so -o new.so
