#!/bin/sh
printf 'driver = \n' > cuslim.toml && cuslim config
