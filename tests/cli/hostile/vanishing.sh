#!/bin/sh
# Files that go away while they are read: a result or an error, never a crash.
for turn in 1 2 3 4 5 6 7 8; do
    mkdir "pkg$turn"
    for i in 1 2 3 4 5 6 7 8 9; do cp "$FIXTURES/ops.so" "pkg$turn/lib$i.so"; done
    rm -rf "pkg$turn" &
    timeout 20 cuslim size "pkg$turn" >out.txt 2>err.txt
    status=$?
    wait
    case $status in
        0 | 3 | 4) ;;
        *) echo "exit $status"; cat err.txt ;;
    esac
done
