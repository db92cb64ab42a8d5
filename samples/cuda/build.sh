#!/bin/sh
# Builds the samples, side by side: build.sh [ARCH] [FOLDER] [SOURCE...]
#   ARCH    native (the GPU of this machine, the default) or one by name: sm_90
#   FOLDER  where the programs go (default: build/samples under the current folder)
#   SOURCE  what to build (default: every .cu beside this script)
# NVCC names another compiler, NVCC_FLAGS further options.
set -eu

here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
arch=${1:-native}
folder=${2:-build/samples}
[ $# -gt 2 ] && shift 2 || set -- "$here"/*.cu

nvcc=${NVCC:-nvcc}
command -v "$nvcc" >/dev/null 2>&1 || nvcc=/usr/local/cuda/bin/nvcc
command -v "$nvcc" >/dev/null 2>&1 || { echo "build.sh: no nvcc on PATH or in /usr/local/cuda/bin; set NVCC" >&2; exit 1; }

mkdir -p "$folder"
jobs=$(nproc 2>/dev/null || echo 2)
# xargs ends with 123 where a compiler failed, and set -e passes that on.
printf '%s\n' "$@" | xargs -P "$jobs" -I{} sh -c '
  "$1" -std=c++17 -O3 -arch="$2" -I"$3" ${NVCC_FLAGS:-} -o "$4/$(basename "$5" .cu)" "$5" -lcuda
' build "$nvcc" "$arch" "$here" "$folder" {}
