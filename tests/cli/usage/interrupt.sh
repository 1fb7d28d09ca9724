#!/bin/sh
# Stopped while it reads: ends by the signal, leaves nothing behind.
mkfifo pipe
cuslim size -o report.txt - < pipe &
pid=$!
exec 3> pipe
head -c 100000 /dev/zero >&3
kill -TERM $pid
wait $pid
echo "exit $?"
ls -A
