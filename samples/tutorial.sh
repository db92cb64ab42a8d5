#!/bin/sh
# Runs what docs/user/tutorial.md walks through, on a machine with an NVIDIA GPU and PyTorch, and prints what the tutorial quotes:
#   samples/tutorial.sh INSTALL_DIR OUT_DIR [step...]
# Steps: small (batch 4), large (batch 512), transformer; all of them where none is named.
set -eu

here=$(CDPATH="" cd -- "$(dirname -- "$0")" && pwd)
dlkprof=$1/bin/dlkprof
out=$2
shift 2
mkdir -p "$out"
samples=$here/pytorch
python=${PYTHON:-python3}

# train NAME PROGRAM [option...]: as it runs by itself; its last lines go to the terminal, and to OUT_DIR/NAME.txt.
train() {
  name=$1 program=$2
  shift 2
  echo "\$ python $program $*"
  "$python" "$samples/$program" "$@" >"$out/$name.txt" 2>&1
  grep samples_per_second "$out/$name.txt"
}

# profile NAME HOW PROGRAM [option...]: into OUT_DIR/NAME.dlkcap and NAME_dldb.sqlite; HOW are options of dlkprof.
profile() {
  name=$1 how=$2 program=$3
  shift 3
  echo "\$ dlkprof --mode pytorch $how --base_name $name python $program $*"
  # shellcheck disable=SC2086  # options, none of which holds a space
  "$dlkprof" --mode pytorch $how --verbosity minimal --output_path "$out" --base_name "$name" --force -- \
    "$python" "$samples/$program" "$@" >"$out/$name.txt" 2>&1
  sed -n '/^What to change/,/^$/p' "$out/$name.txt"
  findings "$name" ""
}

# findings NAME STEADY: what to do, largest stake first, of all iterations or of a steady range (options).
findings() {
  echo "\$ dlkprof report $1_dldb.sqlite --reports expert_systems --format json $2"
  # shellcheck disable=SC2086  # options, none of which holds a space
  "$dlkprof" report "$out/$1_dldb.sqlite" --reports expert_systems --format json $2 >"$out/$1_findings$(echo "$2" | tr -dc 0-9).json"
  "$python" - "$out/$1_findings$(echo "$2" | tr -dc 0-9).json" <<'SHOW'
import json, sys
rows = json.load(open(sys.argv[1]))
rows = rows if isinstance(rows, list) else rows["rows"]
for row in rows[:5]:
    stake = row.get("Time At Stake (%)")
    print(f"{'' if stake is None else f'{stake:.1f} %':>7}  {row['Problem']}\n         -> {row['Recommendation']}")
SHOW
}

compare() {
  echo "\$ dlkprof compare $1_dldb.sqlite $2_dldb.sqlite"
  "$dlkprof" compare "$out/$1_dldb.sqlite" "$out/$2_dldb.sqlite" --labels before,after >"$out/$1_$2_compare.txt"
  sed '/^Ops, by GPU time/,$d' "$out/$1_$2_compare.txt"
}

small() {
  train small_alone cifar10.py --batch_size 4 --iters 205 --print_every 100
  train small_graph_alone cifar10.py --batch_size 4 --iters 205 --print_every 100 --graph --fused
  profile small "" cifar10.py --batch_size 4
  findings small "--iter_start 10 --iter_stop 19"
  profile small_graph "" cifar10.py --batch_size 4 --graph --fused
  compare small small_graph
}

large() {
  for options in "" "--amp --channels_last" "--amp --channels_last --graph --fused"; do
    # shellcheck disable=SC2086
    train "large_alone$(echo "$options" | tr -d ' ')" cifar10.py --batch_size 512 --iters 205 --print_every 100 $options
  done
}

transformer() {
  train transformer_alone transformer.py --iters 45 --print_every 20
  train transformer_graph_alone transformer.py --iters 45 --print_every 20 --graph --fused
  profile transformer "--replay-mode none" transformer.py --iters 10
  profile transformer_graph "--replay-mode none" transformer.py --iters 10 --graph --fused
  compare transformer transformer_graph
}

[ $# -gt 0 ] || set -- small large transformer
for step in "$@"; do
  echo "== $step"
  "$step"
done
