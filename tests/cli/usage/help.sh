#!/bin/sh
cuslim --help
