#!/bin/sh
cuslim explain C101 -o report.txt && head -n 1 report.txt && ls -A
cuslim explain C101 -o missing/report.txt
