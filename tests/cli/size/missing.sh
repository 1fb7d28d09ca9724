#!/bin/sh
cuslim size no-such-file.whl
