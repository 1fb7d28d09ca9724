#!/bin/sh
./run pkg-1.0-py3-none-any.whl -o pkg-1.0-py3-none-any.whl --build-tag 7 -q >/dev/null && ls *.whl
python3 -m zipfile -e pkg-1.0-7-py3-none-any.whl x && cat x/pkg-1.0.dist-info/WHEEL
