#!/bin/sh
cuslim explain --format=jsn
