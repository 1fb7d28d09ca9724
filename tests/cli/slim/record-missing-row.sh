#!/bin/sh
python3 "$SOURCE/tests/cli/slim/rewheel.py" pkg-1.0-py3-none-any.whl bad.whl no-row
./run bad.whl -o new.whl
