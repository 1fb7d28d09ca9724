#!/bin/sh
cuslim config C101
