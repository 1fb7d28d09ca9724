#!/bin/sh
cuslim arch lint '8.0;9.0+PTX'
