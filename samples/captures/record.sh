#!/bin/sh
# Records the captures that ship with dlkprof, on a machine with an NVIDIA GPU and PyTorch:
#   samples/captures/record.sh INSTALL_DIR OUT_DIR
set -eu

here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
install=$1
out=$2
mkdir -p "$out"
cd "$here/../.."
for batch_size in 4 512; do
  "$install/bin/dlkprof" --kernel-id ::regex:gemm: --keep-counters --verbosity minimal \
    --output_path "$out" --base_name "cifar10_b$batch_size" --force \
    python samples/pytorch/cifar10.py --batch_size "$batch_size"
done
ls -l "$out"
