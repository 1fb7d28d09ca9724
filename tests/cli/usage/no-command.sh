#!/bin/sh
cuslim
