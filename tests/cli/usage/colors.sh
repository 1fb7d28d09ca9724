#!/bin/sh
# Flag over NO_COLOR over CLICOLOR_FORCE and FORCE_COLOR over "is it a terminal".
show() { cuslim explain C101 "$@" | grep -c "$(printf '\033')"; }
echo "no terminal: $(show)"
echo "always: $(show --color=always)"
echo "always, NO_COLOR: $(NO_COLOR=1 show --color=always)"
echo "CLICOLOR_FORCE: $(CLICOLOR_FORCE=1 show)"
echo "FORCE_COLOR: $(FORCE_COLOR=1 show)"
echo "FORCE_COLOR=0: $(FORCE_COLOR=0 show)"
echo "FORCE_COLOR, NO_COLOR: $(NO_COLOR=1 FORCE_COLOR=1 show)"
echo "FORCE_COLOR, NO_COLOR empty: $(NO_COLOR='' FORCE_COLOR=1 show)"
echo "never, FORCE_COLOR: $(FORCE_COLOR=1 show --color=never)"
