#!/bin/sh
head -c 4000 pkg-1.0-py3-none-any.whl >torn.whl && ./run torn.whl -o new.whl
