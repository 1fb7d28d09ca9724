#!/bin/sh
cuslim arch intersect --as vllm --source '7.5;8.0;8.6;9.0;9.0a' --target '8.0;8.9;9.0'
cuslim arch intersect --as vllm --source 10.0f --target 10.3 --format json
