#!/bin/sh
# Promises from the configuration: devices, driver, sources, routes; an option wins.
cat > cuslim.toml << 'END'
devices = "8.0 9.0"
driver = "615.71.09"
[[source]]
files = "**/softmax.cu"
arch = "7.5;8.0;9.0a;10.7"
[[source]]
files = "axpy.cu"
ship = "jit"
[[route]]
library = "**/_extra.abi3.so"
devices = "9.0"
END
cuslim check "$SAMPLE"
echo "exit $?"
cuslim check --device 9.0 --driver R620 --format csv "$SAMPLE" | head -n 3
