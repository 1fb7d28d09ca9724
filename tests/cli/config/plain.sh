#!/bin/sh
cuslim config --config project/pyproject.toml -q && CUSLIM_CONFIG=project/pyproject.toml cuslim config -q --format csv
