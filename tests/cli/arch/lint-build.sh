#!/bin/sh
sm80='-gencode arch=compute_80,code=sm_80'
sm70='-gencode=arch=compute_70,code=sm_70'
args='"-gencode", "arch=compute_80,code=sm_80"'
cat > compile_commands.json <<END
[{"directory": "/b", "file": "a.cu", "command": "nvcc $sm80 -O3 $sm80 $sm70 -c a.cu"},
 {"directory": "/b", "file": "b.cu", "arguments": ["ccache", "nvcc", $args, "-O3", $args, "b.cu"]},
 {"directory": "/b", "file": "c.cpp", "command": "g++ -march=native -c c.cpp"}]
END
cuslim arch lint --declared '8.0' --file compile_commands.json
cuslim arch lint --format json --file compile_commands.json
