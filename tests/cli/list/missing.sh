#!/bin/sh
cuslim list nowhere.so
