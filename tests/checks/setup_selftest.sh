#!/usr/bin/env bash
# setup.sh, checked: how it finds the CUDA Toolkit and what it says where there is none.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../setup.sh"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
  printf 'failed: %s\n' "$*" >&2
  exit 1
}

# A toolkit in folder $1, whose CUPTI is under $2 of it.
make_toolkit() {
  mkdir -p "$1/bin" "$1/$2/include" "$1/$2/lib64"
  touch "$1/$2/include/cupti_range_profiler.h" "$1/$2/lib64/libcupti.so.13"
  printf '#!/bin/sh\n' >"$1/bin/nvcc"
  chmod +x "$1/bin/nvcc"
}

test_both_layouts_are_known() {
  make_toolkit "$scratch/flat" .
  make_toolkit "$scratch/extras" extras/CUPTI
  has_cupti "$scratch/flat" || fail "flat layout"
  has_cupti "$scratch/extras" || fail "extras layout"
}

test_a_toolkit_without_range_profiler_is_refused() {
  make_toolkit "$scratch/old" .
  rm "$scratch/old/include/cupti_range_profiler.h"
  if has_cupti "$scratch/old"; then fail "a toolkit before 12.6"; fi
}

test_nvcc_on_path_leads_to_its_toolkit() {
  make_toolkit "$scratch/flat" .
  mkdir -p "$scratch/links"
  ln -sf "$scratch/flat/bin/nvcc" "$scratch/links/nvcc"
  (
    unset CUDA_HOME CUDA_PATH
    PATH=$scratch/links:$PATH need_cuda
    [[ $CUDA_HOME == "$scratch/flat" ]]
  ) || fail "nvcc behind a link"
}

test_none_is_said_plainly() {
  local said
  # shellcheck disable=SC2317 # called by need_cuda
  cuda_candidates() { printf '%s\n' "$scratch/none"; }
  if said=$(need_cuda 2>&1); then fail "no toolkit at all"; fi
  [[ $said == *CUDA_HOME* ]] || fail "what to do where there is none: $said"
}

test_node_from_elsewhere_will_do() {
  mkdir -p "$scratch/node"
  printf '#!/bin/sh\n' | tee "$scratch/node/node" >"$scratch/node/npm"
  chmod +x "$scratch/node/node" "$scratch/node/npm"
  (
    # shellcheck disable=SC2317 # called by need_page_tools
    need_packages() { fail "installs $*, although both are there"; }
    PATH=$scratch/node:$PATH need_page_tools
  ) || fail "Node.js that is there"
  (
    # shellcheck disable=SC2317 # called by need_page_tools
    need_packages() { [[ $* != "nodejs npm" ]] || : >"$scratch/asked"; }
    PATH=$scratch/none need_page_tools
  )
  [[ -f $scratch/asked ]] || fail "where there is no Node.js"
}

test_missing_packages_are_found() {
  [[ $(missing_packages bash no-such-package) == no-such-package ]] || fail "missing packages"
}

test_usage() {
  local setup
  setup=$(dirname "${BASH_SOURCE[0]}")/../../setup.sh
  "$setup" --help | grep -q 'Usage' || fail "--help"
  if "$setup" no-such-verb 2>/dev/null; then fail "an unknown verb"; fi
}

for name in $(compgen -A function test_); do
  [[ $name == test_preset ]] || ("$name")
done
echo "setup.sh does what it should."
