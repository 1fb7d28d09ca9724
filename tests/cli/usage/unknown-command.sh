#!/bin/sh
cuslim explian
