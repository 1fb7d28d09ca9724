#!/bin/sh
cuslim arch lint '8.0 8.0+PTX 9.0b' '9.0;9.0a'
