# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Implements `./dev bench`, and its subcommands `threads`, `decode`, `memory`, `ceilings`, `surroundings`, `firmware`,
# `charts` and `all`. bench_peers.sh, bench_browser.sh and bench_compare.sh implement the other subcommands.
: "${root:?}" "${builds:?}" "${compiler:?}"

bench() {
  case ${1:-} in
    all | compare | firmware | browser | peers | minilm | keywords | llama | charts | start) "bench_$1" "${@:2}" ;;
    threads | decode | memory | ceilings | surroundings) bench_program "ladon_bench_$1" "${@:2}" ;;
    *) bench_share_of_peak "$@" ;;
  esac
}

# bench_share_of_peak [--precision float32|bfloat16|int8] [--shape TOKENS,MODEL,HEADS] ARGS...: builds and runs the
# program that measures the share of the FMA peak.
bench_share_of_peak() {
  local program=ladon_bench shape='' arguments=()
  while [ $# -gt 0 ]; do
    case $1 in
      --precision)
        program=$(program_of_precision "${2:-}")
        shift ;;
      --shape)
        shape=${2:-}
        [[ $shape =~ ^[0-9]+,[0-9]+,[0-9]+$ ]] || die "--shape takes tokens, model and heads, such as 16,32,4"
        shift ;;
      *) arguments+=("$1") ;;
    esac
    shift
  done
  local dir=$builds/bench${shape:+-${shape//,/_}}
  need_bench
  configure_bench "$dir" ${shape:+-DLADON_BENCH_SHAPE=$shape}
  build "$dir" "$program"
  exec "$dir/bench/$program" ${arguments[@]+"${arguments[@]}"}
}

# program_of_precision NAME: prints the program that measures kernels with weights of the precision NAME.
program_of_precision() {
  case $1 in
    float32) echo ladon_bench ;;
    bfloat16 | int8) echo "ladon_bench_$1" ;;
    *) die "--precision takes float32, bfloat16 or int8" ;;
  esac
}

# bench_program NAME ARGS...: builds and runs a program of bench/CMakeLists.txt.
bench_program() {
  need_bench
  configure_bench "$builds/bench"
  build "$builds/bench" "$1"
  exec "$builds/bench/bench/$1" "${@:2}"
}

need_bench() { need c++ cmake ninja xsimd/xsimd.hpp benchmark/benchmark.h nlohmann/json.hpp CLI/CLI.hpp protozero/pbf_reader.hpp; }

# configure_bench FOLDER ARGS...: configures only the benchmarks of this checkout.
configure_bench() { configure_bench_of "$root" "$@"; }

# configure_bench_of SOURCE FOLDER ARGS...: configures only the benchmarks of the checkout SOURCE.
configure_bench_of() {
  configure_source "$@" -DLADON_BUILD_TESTS=OFF -DLADON_BUILD_EXAMPLES=OFF \
    -DLADON_BUILD_WEIGHTS_TOOL=OFF -DLADON_WERROR="${CI:+ON}"
}

# bench_firmware [--precision float32|int8] [CORE...]: measures instructions and memory on microcontrollers in QEMU.
bench_firmware() {
  local core precision=float32 chosen=() dir
  while [ $# -gt 0 ]; do
    case $1 in
      --precision)
        precision=${2:-}
        [[ $precision =~ ^(float32|int8)$ ]] || die "--precision takes float32 or int8"
        shift ;;
      *) chosen+=("$1") ;;
    esac
    shift
  done
  if [ ${#chosen[@]} = 0 ]; then chosen=(cortex-m4 cortex-m7 cortex-m55); fi
  for core in "${chosen[@]}"; do
    dir=$builds/bench-$core
    configure_firmware "$root/bench/firmware" "$dir" "$core" -DLADON_CMSIS_DSP_DIR="${LADON_CMSIS_DSP_DIR:-}"
    say "$core"
    if [ "$precision" = int8 ]; then
      build "$dir" counts_int8
      printf '%s\n' "$core"
      cmake --build "$dir" --target report_int8 | grep -v '^\['
      continue
    fi
    cmake --build "$dir" --target counts memory_256 memory_128 memory_64 memory_32 >&2
    printf '%s\n' "$core"
    cmake --build "$dir" --target report memory inner_loops | grep -v '^\['
  done
}

bench_all() {
  need python3
  run_module python3 all "$@"
}

bench_charts() {
  need python3 pip
  python_packages "$builds/charts-venv" "$root/bench/ladon_bench/charts/requirements.txt"
  run_module "$builds/charts-venv/bin/python" charts "$@"
}

footprint() {
  need c++ cmake ninja xsimd/xsimd.hpp
  CXX=$compiler cmake -S "$root/bench/footprint" -B "$builds/footprint" -G Ninja >&2
  cmake --build "$builds/footprint" --target report | grep -v '^\['
}
