#!/bin/sh
./run pkg-1.0-py3-none-any.whl -o a.whl -j1 >/dev/null && sleep 1 && mkdir b &&
./run pkg-1.0-py3-none-any.whl -o b/a.whl -j3 >/dev/null && cmp a.whl b/a.whl && echo same
