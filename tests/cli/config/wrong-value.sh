#!/bin/sh
printf 'driver = "550"\ncompress = "sise"\n' > cuslim.toml && cuslim config
