#!/bin/sh
cuslim arch
