#!/bin/bash
# Builds cuslim_sample-1.0-py3-none-manylinux_2_28_x86_64.whl from the sources beside this script.
#
# Toolkits: nvcc 13.0 (CUDA_HOME, default /usr/local/cuda) compiles; fatbinary 13.4 or newer
# (FATBINARY, from the PyPI package nvidia-cuda-nvcc, checked-in wheel: 13.5.37) writes the
# concatenated entries.  Host compiler: the system's g++ (checked-in wheel: 12.2).
# The same tools give the same bytes: what nvcc makes of process numbers is overwritten, times are
# fixed, and paths are relative.
set -euo pipefail
cd "$(dirname "$0")"
cuda=${CUDA_HOME:-/usr/local/cuda}
fatbinary=${FATBINARY:?set FATBINARY to a fatbinary of toolkit 13.4 or newer}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The toolkit's tree by links, with nvcc itself copied so that it looks for its tools here.
mkdir -p "$work/newer/bin"
for f in "$cuda"/*; do
    [ "$(basename "$f")" = bin ] || ln -s "$f" "$work/newer/"
done
for f in "$cuda"/bin/*; do
    case $(basename "$f") in
        nvcc) cp "$f" "$work/newer/bin/" ;;
        fatbinary) ln -s "$(realpath "$fatbinary")" "$work/newer/bin/fatbinary" ;;
        *) ln -s "$f" "$work/newer/bin/" ;;
    esac
done

sass() { for a in "$@"; do printf -- '-gencode arch=compute_%s,code=sm_%s ' "$a" "$a"; done; }
ptx() { for a in "$@"; do printf -- '-gencode arch=compute_%s,code=compute_%s ' "$a" "$a"; done; }
common="-O2 -std=c++17 -Xcompiler -fPIC -Xcompiler -fvisibility=hidden"
all="-Xfatbin=-compress-all"

compile() {  # compile NVCC SOURCE FLAGS...
    local nvcc=$1 source=$2
    shift 2
    # shellcheck disable=SC2068,SC2086
    "$nvcc" $common $@ -c "csrc/$source.cu" -o "$work/$source.o"
    # FILE symbols hold the process number of nvcc.
    sed -i 's/tmpxft_[0-9a-f]\{8\}_[0-9a-f]\{8\}/tmpxft_00000001_00000000/g' "$work/$source.o"
}

nvcc=$cuda/bin/nvcc
compile "$nvcc" axpy $(sass 75 80 90) $(ptx 90)
compile "$nvcc" row_sum -lineinfo $all --compress-mode=speed $(sass 80 90 120) $(ptx 80)
compile "$nvcc" matmul $all --compress-mode=size $(sass 80 90a 100f) $(ptx 90)
compile "$work/newer/bin/nvcc" softmax -Xfatbin=--concat $all --compress-mode=size \
    $(sass 75 80 86 89 90 90a 100f 120) $(ptx 80 90)
compile "$nvcc" histogram -rdc=true $(sass 80 90) $(ptx 90)
compile "$nvcc" bins -rdc=true $(sass 80 90) $(ptx 90)
compile "$nvcc" gelu --compress-mode=none $(sass 90 100 120)

link() {  # link OUTPUT OBJECTS...
    local out=$1
    shift
    "$nvcc" -shared -cudart shared $(sass 80 90) "$@" -o "$out" \
        -Xcompiler -fuse-ld=bfd -Xlinker --build-id=sha1
}
package=$work/wheel/cuslim_sample
mkdir -p "$package"
cp cuslim_sample/__init__.py "$package/"
(
    cd "$work"
    link "$package/_ops.abi3.so" axpy.o row_sum.o matmul.o softmax.o histogram.o bins.o
    link "$package/_extra.abi3.so" gelu.o
)
sed -i 's/tmpxft_[0-9a-f]\{8\}_[0-9a-f]\{8\}/tmpxft_00000001_00000000/g' "$package"/*.so
mkdir -p "$package/kernels" "$package/lib"
"$nvcc" -cubin -arch=sm_90 csrc/scale.cu -o "$package/kernels/scale.cubin"
"$nvcc" -ptx -arch=compute_80 csrc/scale.cu -o "$package/kernels/scale.ptx"
"$nvcc" -fatbin $(sass 80 90) $(ptx 90) csrc/scale.cu -o "$package/kernels/scale.fatbin"
ar rcD "$package/lib/libcuslim_sample.a" "$work/matmul.o" "$work/gelu.o"
strip "$package/_extra.abi3.so"
python3 pack.py "$work/wheel" cuslim_sample 1.0 py3-none-manylinux_2_28_x86_64
