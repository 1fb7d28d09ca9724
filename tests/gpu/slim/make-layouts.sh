#!/usr/bin/env bash
# Builds a small CUDA library in every layout, slims each in several ways, and runs strip, patchelf and a
# second slim over the results.     make-layouts.sh OUT CUSLIM
set -eu
out=$1 cuslim=$(readlink -f "$2") here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out" && cd "$out"
archs='-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=[sm_90,compute_90]
       -gencode arch=compute_100,code=sm_100'
objects() { # suffix options...
    local s=$1; shift
    for u in 1 2 3; do
        nvcc -O2 $archs "$@" -Xcompiler -fPIC -DUNIT=$u -c "$here/unit.cu" -o "unit$u$s.o"
    done
    nvcc -O2 $archs "$@" -Xcompiler -fPIC -c "$here/library.cu" -o "library$s.o"
}
objects ''
objects .rdc -rdc=true
link() { # name suffix options...
    local n=$1 s=$2; shift 2
    nvcc -shared -cudart shared $archs "$@" unit{1,2,3}"$s".o library"$s".o -o "$n.so" 2>/dev/null ||
        { echo "skip $n: does not link here"; rm -f "$n.so"; }
}
link ld ''
link ld-noseparate '' -Xlinker -z,noseparate-code
link ld-2m '' -Xlinker -z,max-page-size=0x200000
link ld-64k '' -Xlinker -z,max-page-size=0x10000
link ld-relr '' -Xlinker -z,pack-relative-relocs
link gold '' -Xcompiler -fuse-ld=gold
link lld '' -Xcompiler -fuse-ld=lld -Xlinker --no-rosegment
link lld-default '' -Xcompiler -fuse-ld=lld
link rdc .rdc -rdc=true
g++ -O2 -fPIE -c "$here/main.cc" -o main.o
nvcc -cudart shared $archs unit{1,2,3}.o library.o main.o -o pie.exe -Xlinker -pie
nvcc -cudart shared $archs unit{1,2,3}.o library.o main.o -o nopie.exe -Xlinker -no-pie
rm -f ./*.o
cp ld.so patchelfed.so && patchelf --set-rpath '$ORIGIN/a/long/way' patchelfed.so
for f in *.so *.exe; do
    n=${f%.*} e=${f##*.}
    "$cuslim" slim -q "$f" -o "$n.free.$e" >/dev/null
    "$cuslim" slim -q "$f" -o "$n.for90.$e" --for 9.0 --recompress zstd:19 --allow-floor unknown >/dev/null
    "$cuslim" slim -q "$f" -o "$n.ptx.$e" --keep compute_90 --allow 8.0,8.6,8.9,9.0,10.0,10.3,10.7 >/dev/null
    "$cuslim" slim -q "$f" -o "$n.rel.$e" --relocatable drop --recompress lz4 --allow-floor unknown >/dev/null
    cp "$n.for90.$e" "$n.strip.$e" && strip "$n.strip.$e"
    cp "$n.for90.$e" "$n.patchelf.$e" && patchelf --set-rpath '$ORIGIN/x' "$n.patchelf.$e"
    cp "$n.strip.$e" "$n.both.$e" && patchelf --set-rpath '$ORIGIN/x' "$n.both.$e"
    "$cuslim" slim -q "$n.patchelf.$e" -o "$n.again.$e" --recompress none --allow-floor unknown >/dev/null
done
ls | wc -l
