#!/usr/bin/env bash
# The runs on a GPU, in the folder that make-containers.py, make-layouts.sh and the copies of
# bitsandbytes were put into:   run.sh select|layouts|bnb|torch ...
# Raw results go to $OUT (default: .).
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-.}
cuda=${CUDA_HOME:-/usr/local/cuda}
export LD_LIBRARY_PATH=$cuda/lib64:${LD_LIBRARY_PATH:-}
nvidia-smi --query-gpu=name,driver_version,compute_cap --format=csv,noheader

do_select() {
    gcc -O1 -o "$here/load" "$here/load.c" -ldl
    (cd "$here/select" && "$here/load" c*.fatbin) >"$out/select-gpu.txt" 2>&1
    (cd "$here/select" && CUDA_FORCE_PTX_JIT=1 "$here/load" c*.fatbin) >"$out/select-gpu-force-ptx.txt" 2>&1
    wc -l "$out"/select-gpu*.txt
}
do_layouts() {
    python3 "$here/run_layouts.py" "$here/layouts" >"$out/layouts-gpu.txt" 2>&1
    grep -v '^ok' "$out/layouts-gpu.txt"
}
do_bnb() {
    for v in "$here"/bnb/*.so; do
        n=$(basename "$v" .so)
        cp "$v" "$here/bnb/base/bitsandbytes/libbitsandbytes_cuda130.so"
        PYTHONPATH=$here/bnb/base timeout 120 python3 "$here/bnb_ops.py" "$here/bnb-$n.json" 2>&1 |
            tail -1 | sed "s/^/$n: /"
    done
    others=$(ls "$here"/bnb-*.json | grep -v bnb-original)
    python3 "$here/compare.py" "$here/bnb-original.json" $others
    cp "$here/bnb-original.json" "$out/"
}
do_torch() {
    torch=$(python3 -c 'import torch,os;print(os.path.dirname(torch.__file__))')
    mkdir -p /tmp/slim && cp -rs "$torch" /tmp/slim/torch
    ls -d "$(dirname "$torch")"/torch-*.dist-info | xargs -I{} cp -rs {} /tmp/slim/
    lib=$(readlink -f "$torch/lib/libtorch_cuda.so")
    for v in for90 for90lz4; do
        rm -f /tmp/slim/torch/lib/libtorch_cuda.so
        form=keep && [ $v = for90lz4 ] && form=lz4
        "$here/cuslim" slim "$lib" -o /tmp/slim/torch/lib/libtorch_cuda.so --for 9.0 \
            --recompress $form --proof "$out/torch-$v-proof.json"
        for i in 1 2 3; do
            python3 "$here/torch_ops.py" "$here/torch-original.json"
            PYTHONPATH=/tmp/slim python3 "$here/torch_ops.py" "$here/torch-$v.json"
        done
        # What differs between two runs of the original is no fault of the edit.
        python3 "$here/torch_ops.py" "$here/torch-original2.json"
        python3 "$here/compare.py" "$here/torch-original.json" --again \
            "$here/torch-original2.json" "$here/torch-$v.json"
        grep '"file"' "$here/torch-$v.json"
    done
    cp "$here"/torch-*.json "$out/"
}
for what in "$@"; do
    echo "== $what"
    "do_$what" 2>&1
done
