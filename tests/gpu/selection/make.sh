#!/bin/sh
# Builds everything that a GPU machine needs to say which image of a container runs.
#
#     tests/gpu/selection/make.sh BUILD OUT
#
# BUILD is a build folder of this project, OUT a new folder: copy it to a machine with a GPU and a
# driver (nothing else is needed there) and run OUT/load_containers OUT > record; with
# CUDA_FORCE_PTX_JIT=1 for the second record.  Records in this folder are compared with our own
# selection by tests/unit/test_select.c; their first line, "driver 580.159.04", is what nvidia-smi
# says there.  Needs nvcc 13.0.
#
# The tag of an image: 100 * number + 10 * (1 for a, 2 for f) + 1 for PTX + 2 for :v2.
set -eu
here=$(dirname "$(realpath "$0")")
build=$1 out=$2
images=$out/images
mkdir -p "$images"
for target in 75 80 86 89 90 90a 100 100f 120; do
  number=${target%[af]}
  case $target in *a) suffix=1 ;; *f) suffix=2 ;; *) suffix=0 ;; esac
  for second in 0 2; do
    base=$((100 * number + 10 * suffix + second))
    name=; [ $second = 2 ] && name=.v2
    nvcc -cubin -gencode arch=compute_$target,code=sm_$target -DTAG=$base \
      -o "$images/sm_$target$name.cubin" "$here/kernel.cu"
    nvcc -ptx -arch=compute_$target -DTAG=$((base + 1)) \
      -o "$images/compute_$target$name.ptx" "$here/kernel.cu"
  done
done
cc -std=gnu17 -O1 -I"$here/../../../src" -I"$here/../.." "$here/make_containers.c" \
  "$here/../build/mk_fatbin.c" "$build/libcuslim_core.a" -lzstd -llz4 -lz -ldeflate -ljansson \
  -lcrypto -lpthread -o "$out/make_containers"
cc -std=gnu17 -O1 "$here/load_containers.c" -ldl -o "$out/load_containers"
"$out/make_containers" "$here/containers.txt" "$images" "$out"
rm -r "$images" "$out/make_containers"
