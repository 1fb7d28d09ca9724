#!/bin/sh
cuslim explain --fromat=json
