#!/bin/sh
cuslim explain "$FIXTURES/ops.so" _Z5scalePfi 10.3 --format json
