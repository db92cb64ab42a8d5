#!/usr/bin/env bash
# Sets up everything that dlkprof needs on this machine, then does what it is asked: see usage below.
# Every step looks first at what is there already, so that a second run takes seconds.
set -euo pipefail

readonly build_packages=(g++ cmake ninja-build ccache libpcre2-dev libcli11-dev nlohmann-json3-dev libfmt-dev libzstd-dev
                         libsqlite3-dev libiberty-dev zlib1g-dev)
readonly page_packages=(nodejs npm) # the page of dlkprof view
readonly llvm=16 # one version everywhere: they differ in how they format and in what they find
readonly test_packages=(git python3 shellcheck libgtest-dev libgmock-dev libbenchmark-dev "clang-$llvm" "clang-format-$llvm"
                        "clang-tidy-$llvm" "libclang-rt-$llvm-dev" chromium
                        mkdocs codespell # of the docs
                        black flake8 python3-pytest # of Python
                        fish zstd dpkg-dev python3-venv python3-wheel # of completion and packages
                        python3-distributed python3-jsonschema python3-pandas python3-protobuf)

usage() {
  cat <<'END'
Usage: ./setup.sh <verb> [options]

  demo    build and install dlkprof, then show it at work on recorded captures; on a GPU machine, live as well
  test    everything that continuous integration checks
            test quick: of that what needs no sanitizer and no profiled program, for daily work
            test all: and profiled programs and failing calls under the sanitizers, before a release
            test dev: build file by file what the others build several files at a time, which shows missing includes
  build   build dlkprof and install it under build/install
  soak    try for hours what must not harm: hostile programs, kills at random moments, fuzzing (docs/reference/safety.md);
            then the static analyzer over src
            soak [hostile|campaign|mutants|fuzz|analyzer] [--seconds <n of each fuzz target>] [--moments <n>] [--seed <n>]
  clean   remove everything that was built

Each verb first installs the distribution packages that it misses (Debian 12, Ubuntu 24.04 or later), and looks for
the CUDA Toolkit (12.6 or later) in CUDA_HOME, CUDA_PATH, beside nvcc on PATH and in /usr/local.
END
}

say() { printf '==> %s\n' "$*" >&2; }
die() {
  printf 'setup.sh: %s\n' "$@" >&2
  exit 1
}

# --- Distribution packages ---

# Prints those of its arguments that are not installed.
missing_packages() {
  local installed package
  installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" 2>/dev/null || true)
  for package in "$@"; do
    grep -qxF "$package installed" <<<"$installed" || printf '%s\n' "$package"
  done
}

as_root() {
  if [[ $(id -u) -eq 0 ]]; then "$@"; else sudo "$@"; fi
}

need_packages() {
  local missing
  if ! command -v dpkg-query >/dev/null; then
    say "This is no Debian or Ubuntu; going on, taking for installed: $*"
    return
  fi
  mapfile -t missing < <(missing_packages "$@")
  [[ ${#missing[@]} -eq 0 ]] && return
  if [[ $(id -u) -ne 0 ]] && ! command -v sudo >/dev/null; then
    die "Some packages are missing, and installing them takes root. Ask for: apt-get install ${missing[*]}"
  fi
  say "Installing ${missing[*]}"
  as_root apt-get update -q >&2
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}" >&2
}

# Node.js from elsewhere than the distribution brings npm along, and does not go together with the distribution's.
need_page_tools() {
  if command -v node >/dev/null && command -v npm >/dev/null; then return; fi
  need_packages "${page_packages[@]}"
}

# --- CUDA Toolkit ---

# Prints the folders where a CUDA Toolkit may be, best first.
cuda_candidates() {
  local nvcc
  printf '%s\n' "${CUDA_HOME:-}" "${CUDA_PATH:-}"
  if nvcc=$(command -v nvcc); then
    dirname "$(dirname "$(readlink -f "$nvcc")")"
  fi
  printf '%s\n' /usr/local/cuda
  printf '%s\n' /usr/local/cuda-* | sort -rV
}

# Whether folder $1 holds what dlkprof is built with and run with. The range profiler's header came with 12.6.
has_cupti() {
  local header
  compgen -G "$1/lib64/libcupti.so*" >/dev/null || compgen -G "$1/extras/CUPTI/lib64/libcupti.so*" >/dev/null || return 1
  for header in "$1"/{,extras/CUPTI/}include/cupti_range_profiler.h; do
    [[ -f $header ]] && return 0
  done
  return 1
}

need_cuda() {
  local candidate
  while read -r candidate; do
    if [[ -n $candidate ]] && has_cupti "$candidate"; then
      export CUDA_HOME=$candidate
      return
    fi
  done < <(cuda_candidates)
  die "No CUDA Toolkit 12.6 or later with CUPTI was found." \
      "Install one from https://developer.nvidia.com/cuda-downloads (no GPU or driver is needed to build)," \
      "then set CUDA_HOME to its folder, as in: CUDA_HOME=/opt/cuda ./setup.sh demo"
}

# --- Verbs ---

# With cmake's further arguments. Goes on after an error (-k 0), so that one run shows them all.
build_preset() {
  say "Building $*"
  cmake --preset "$1" >&2
  cmake --build --preset "$@" --parallel "$(nproc)" -- -k 0 >&2
}

verb_build() {
  need_packages "${build_packages[@]}"
  need_page_tools
  need_cuda
  build_preset release
  cmake --install build/release --prefix build/install >/dev/null
  say "Installed: $PWD/build/install/bin/dlkprof"
}

verb_demo() {
  verb_build
  say "dlkprof demo: recorded captures"
  build/install/bin/dlkprof demo
  if command -v "$CUDA_HOME/bin/nvcc" >/dev/null && nvidia-smi -L >/dev/null 2>&1; then
    demo_live
  else
    say "No usable GPU, or no nvcc, on this machine: the live part is left out"
  fi
  build/install/bin/dlkprof view --force --no-open --output_path=build/demo --base_name=captures \
    build/install/share/dlkprof/captures/*.dlkcap
  say "The same captures as a page, which opens in any browser: $PWD/build/demo/captures.html"
}

demo_live() {
  say "dlkprof on a CUDA program, live"
  NVCC=$CUDA_HOME/bin/nvcc samples/cuda/build.sh native build/samples samples/cuda/copy.cu
  build/install/bin/dlkprof --force --output_path=build/demo build/samples/copy
}

# Runs a command, and says how long it took.
timed() {
  local begin=$SECONDS
  "$@"
  say "$((SECONDS - begin)) s: $*"
}

# Runs ctest of preset $1 with more arguments, and adds the number of tests to tests_passed. Where the kernel
# randomizes addresses widely, the sanitizers of clang 16 cannot start, so that is turned off for them.
tests_passed=0
test_preset() {
  local launcher=() log=build/$1/ctest.log
  say "Testing $*"
  if [[ $1 == [at]san ]] && setarch -R true 2>/dev/null; then launcher=(setarch -R); fi
  "${launcher[@]}" ctest --preset "$@" | tee "$log"
  tests_passed=$((tests_passed + $(awk '/tests passed, 0 tests failed out of/ {n += $NF} END {print n + 0}' "$log")))
}

check_release() {
  timed test_preset ci --label-regex '^source$' # what needs no build comes first: it fails in seconds
  timed build_preset ci
  timed python3 -B tests/checks/reader_build.py build/ci .
  timed test_preset ci --label-exclude '^source$'
}

# With ctest's further arguments.
check_sanitized() {
  local preset
  for preset in asan tsan; do
    timed build_preset "$preset"
    timed test_preset "$preset" "$@"
  done
}

check_what_ci_does() {
  check_release
  check_sanitized --exclude-regex '^e2e|EveryChip'
}

check_everything() {
  check_release
  timed build_preset tsan --target threaded_programs
  check_sanitized
}

check_quickly() {
  timed build_preset ci
  timed test_preset ci --label-regex '^(source|unit|threads)$' --exclude-regex '^check.gpu_tests|EveryChip'
}

# Apart from all else: without a filled ccache it takes as long as that, some 15 minutes on 2 cores.
check_file_by_file() {
  timed build_preset dev
  timed test_preset dev --label-regex '^(unit|threads)$' --exclude-regex 'EveryChip|^e2e'
}

verb_test() {
  local tests=check_what_ci_does
  case ${1:-} in
    "") ;;
    quick) tests=check_quickly ;;
    all) tests=check_everything ;;
    dev) tests=check_file_by_file ;;
    *) die "test takes nothing, quick, all or dev, and not $1" ;;
  esac
  need_packages "${build_packages[@]}" "${test_packages[@]}"
  need_page_tools
  need_cuda
  cmake --preset ci >&2
  "$tests"
  printf '100%% tests passed, 0 tests failed out of %d\n' "$tests_passed"
}

# --- Soaking ---

# Runs Python program $1 of tests/e2e over the ci build, with more arguments.
run_e2e() {
  env -C tests/e2e DLKPROF_BUILD="$PWD/build/ci" DLKPROF_SOURCE="$PWD" DLKPROF_SOAK=1 python3 -B "$@"
}

soak_hostile() {
  say "Hostile programs, each with and without dlkprof, in every replay mode"
  run_e2e run.py test_hostile test_bombs test_left_behind test_promises
}

soak_campaign() {
  say "Kills, stops and cuts at random moments"
  run_e2e support/campaign.py --moments "$soak_moments" ${soak_seed:+--seed "$soak_seed"}
}

soak_mutants() {
  say "Mutated captures through the database and back"
  DLKPROF_MUTANTS=20000 build/ci/bin/store_test --gtest_filter='MutatedCaptures.*'
}

# What each target finds new is kept in the build folder, beside the corpus of the repository.
soak_fuzz() {
  local target name found launcher=()
  build_preset asan
  if setarch -R true 2>/dev/null; then launcher=(setarch -R); fi
  for target in build/asan/bin/*_fuzz; do
    name=$(basename "$target" _fuzz)
    found=build/asan/fuzz/$name
    mkdir -p "$found" "tests/fuzz/corpus/$name"
    say "Fuzzing $name for $soak_seconds s"
    "${launcher[@]}" "$target" "$found" "tests/fuzz/corpus/$name" -max_total_time="$soak_seconds" -rss_limit_mb=2048 \
      -max_len=16384 -entropic=0 -artifact_prefix="$found/" -print_final_stats=1 2>"$found.log" ||
      die "$name found something: the end of $found.log says what, and names the file that shows it"
    grep -E 'DONE|stat::number_of_executed_units' "$found.log" >&2
  done
}

# Clang's static analyzer over each file of src; a finding ends it (.clang-tidy makes errors of them).
soak_analyzer() {
  cmake --preset dev >&2
  "run-clang-tidy-$llvm" -quiet -p build/dev -j "$(nproc)" -checks='-*,clang-analyzer-*,-clang-analyzer-optin.performance.Padding' \
    -extra-arg=-Wno-unknown-warning-option "^$PWD/src/.*\.cpp\$" >&2
}

verb_soak() {
  local part parts=()
  soak_seconds=3600 soak_moments=1000 soak_seed=
  while [[ $# -gt 0 ]]; do
    case $1 in
      --seconds) soak_seconds=${2:?--seconds takes a number} && shift ;;
      --moments) soak_moments=${2:?--moments takes a number} && shift ;;
      --seed) soak_seed=${2:?--seed takes a number} && shift ;;
      hostile | campaign | mutants | fuzz | analyzer) parts+=("$1") ;;
      *) die "soak takes hostile, campaign, mutants, fuzz, analyzer, --seconds, --moments and --seed, and not $1" ;;
    esac
    shift
  done
  [[ ${#parts[@]} -gt 0 ]] || parts=(hostile campaign mutants fuzz analyzer)
  need_packages "${build_packages[@]}" "${test_packages[@]}"
  need_cuda
  build_preset ci
  for part in "${parts[@]}"; do "soak_$part"; done
  say "Soaked: ${parts[*]}"
}

verb_clean() { rm -rf build; }

main() {
  cd "$(dirname "${BASH_SOURCE[0]}")"
  export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 # what one build folder compiled serves the others, where they compile the same
  case ${1:-} in
    build | demo | clean) "verb_$1" ;;
    soak | test) "verb_$1" "${@:2}" ;;
    -h | --help | help) usage ;;
    *)
      usage >&2
      exit 2
      ;;
  esac
}

[[ ${BASH_SOURCE[0]} != "$0" ]] || main "$@"
