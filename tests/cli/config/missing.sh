#!/bin/sh
cuslim config --config nowhere.toml
