#!/bin/sh
# Routes of the configuration count as those of --route.
cat > cuslim.toml << 'END'
[[route]]
library = "**/_extra.abi3.so"
devices = "9.0"
END
cuslim slim --dry-run "$SAMPLE" | grep -A 5 Causes
