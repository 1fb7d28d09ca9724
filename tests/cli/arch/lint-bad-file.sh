#!/bin/sh
echo '{"a": 1}' > compile_commands.json
cuslim arch lint --file compile_commands.json
