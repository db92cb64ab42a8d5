#!/bin/sh
# Records the captures that ship with dlkprof, and the one that only tests read, on a machine with an NVIDIA GPU, PyTorch
# and JAX:
#   samples/captures/record.sh INSTALL_DIR OUT_DIR
set -eu

here=$(CDPATH="" cd -- "$(dirname -- "$0")" && pwd)
install=$1
out=$2
mkdir -p "$out"
cd "$here/../.."

# record BASE_NAME [option...] -- PROGRAM...
record() {
  name=$1
  shift
  "$install/bin/dlkprof" --verbosity minimal --output_path "$out" --base_name "$name" --force "$@"
  rm -f "$out/${name}_dldb.sqlite" # made again from the capture at any time
}

# record_cifar10 BASE_NAME BATCH_SIZE ITERATIONS [option...]
record_cifar10() {
  name=$1
  batch_size=$2
  iterations=$3
  shift 3
  record "$name" --mode pytorch "$@" -- \
    python3 samples/pytorch/cifar10.py --batch_size "$batch_size" --iters "$iterations"
}

record_cifar10 cifar10_b4 4 20 --set full --replay-mode kernel
record_cifar10 cifar10_b512 512 20 --set full --replay-mode kernel
record_cifar10 cifar10_b512_iteration 512 60 --set detailed --replay-mode iteration
record_cifar10 cifar10_b512_sampled 512 20 --replay-mode sample --timeline on
record_cifar10 cifar10_b512_pc_sampling 512 20 --replay-mode none --pc-sampling
record_cifar10 cifar10_b512_kept 512 20 --kernel-id ::regex:gemm: --keep-counters # tests/data/captures
# XLA names the file of each operation by its whole path, which is nobody's business.
plain=$(mktemp -d)
cp samples/jax/mlp.py "$plain"
record jax_mlp --mode jax --set full -- python3 "$plain/mlp.py"
rm -r "$plain"
ls -l "$out"
