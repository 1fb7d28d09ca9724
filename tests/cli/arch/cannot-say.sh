#!/bin/sh
cuslim arch --to torch '80-real;90a-virtual'
