#!/bin/sh
cuslim arch --toolkit 13.0 '7.0 8.0'
