#!/bin/sh
cuslim arch explain --format csv '8.0;10.0f;12.0'
