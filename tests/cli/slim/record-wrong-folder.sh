#!/bin/sh
python3 "$SOURCE/tests/cli/slim/rewheel.py" pkg-1.0-py3-none-any.whl bad.whl wrong-hash
python3 -m zipfile -e bad.whl site && ./run site --in-place; code=$?
cmp site/pkg/ops.so ops.so && find site | grep -c backup
exit $code
