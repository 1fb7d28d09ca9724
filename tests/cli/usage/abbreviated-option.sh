#!/bin/sh
# Exact names only, however clear the abbreviation.
cuslim explain --form=json
