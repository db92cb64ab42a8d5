#!/bin/sh
# Records the captures that ship with dlkprof, on a machine with an NVIDIA GPU, PyTorch and JAX:
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
  "$install/bin/dlkprof" --keep-counters --verbosity minimal --output_path "$out" --base_name "$name" --force "$@"
  rm -f "$out/${name}_dldb.sqlite" # made again from the capture at any time
}

for batch_size in 4 512; do
  record "cifar10_b$batch_size" --mode pytorch --kernel-id ::regex:gemm: -- \
    python samples/pytorch/cifar10.py --batch_size "$batch_size"
done
# XLA names the file of each operation by its whole path, which is nobody's business.
plain=$(mktemp -d)
cp samples/jax/mlp.py "$plain"
record jax_mlp --mode jax --kernel-id '::regex:gemm|nvjet|fusion:' -- python "$plain/mlp.py"
rm -r "$plain"
ls -l "$out"
