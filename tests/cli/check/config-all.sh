#!/bin/sh
# Devices, driver, promises by source, routes and budgets come from the configuration.
cat >cuslim.toml <<'END'
devices = "8.0 9.0 12.0"
driver = "580.65.06"
[[source]]
files = ["gemm.cu"]
arch = "10.0f;12.0"
[[source]]
files = ["*.cu"]
arch = "8.0+PTX;9.0;9.0a"
[[route]]
library = "other_*.so"
devices = "9.0"
[budget]
wheel = "1 KiB"
END
cuslim check $FIXTURES/ops.so
