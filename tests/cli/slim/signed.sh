#!/bin/sh
python3 "$SOURCE/tests/cli/slim/rewheel.py" pkg-1.0-py3-none-any.whl signed.whl sign
./run signed.whl -o new.whl
