#!/bin/sh
cuslim size
