#!/bin/sh
# A library that cannot be read is left as it is, and said so.
head -c 12000 ops.so >torn.so
python3 "$SOURCE/tests/cli/slim/rewheel.py" pkg-1.0-py3-none-any.whl torn.whl replace pkg/ops.so torn.so
./run torn.whl -o new.whl
