#!/bin/sh
# Nothing on stderr when the reader has seen enough.
for i in 1 2 3 4 5 6 7 8; do cuslim explain; done | head -n 1
