#!/bin/sh
cuslim arch '8.0 9.0b'
