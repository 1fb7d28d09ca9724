#!/bin/sh
cuslim explain uncoverd-device
