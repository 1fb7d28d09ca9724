#!/bin/sh
cuslim --version
