#!/bin/sh
cuslim arch ''
