#!/bin/sh
cuslim explain
