#!/bin/sh
cuslim explain --format json
