#!/bin/sh
cuslim explain C101 C102
