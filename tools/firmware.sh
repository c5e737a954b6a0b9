# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Implements ./dev firmware, which runs the date reader and the keyword spotter on microcontrollers in QEMU. The
# function configure_firmware also configures tests/firmware and bench/firmware.
: "${root:?}" "${builds:?}"

cores=(cortex-m0plus cortex-m4 cortex-m7 cortex-m33 cortex-m55 rv32imafc)

# configure_firmware PROJECT FOLDER CORE ARGS...: installs the compiler and QEMU for a core, and configures a project.
configure_firmware() {
  local toolchain=arm-none-eabi
  [[ " ${cores[*]} " = *" $3 "* ]] || die "no core is called '$3'; there are ${cores[*]}"
  if [ "$3" = rv32imafc ]; then
    toolchain=riscv32-unknown-elf
    need arm-none-eabi-g++ # for its C++ headers, because riscv64-unknown-elf-g++ has none
    need cmake ninja riscv64-unknown-elf-g++ qemu-system-riscv32
  else
    need cmake ninja arm-none-eabi-g++ qemu-system-arm
  fi
  cmake -S "$1" -B "$2" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$root/cmake/$toolchain.cmake" -DLADON_CPU="$3" \
    -DLADON_WERROR="${CI:+ON}" "${@:4}" >&2
}

# firmware_demo [date_reader|keywords] [--precision float32|int8] ARGS...: runs one of the two programs on three cores.
firmware_demo() {
  local name=date_reader precision='' arguments=()
  case ${1:-} in date_reader | keywords) name=$1; shift ;; esac
  while [ $# -gt 0 ]; do
    case $1 in
      --precision)
        case ${2:-} in
          float32) precision='' ;;
          int8) precision=_int8 ;;
          *) die "--precision takes float32 or int8" ;;
        esac
        shift ;;
      *) arguments+=("$1") ;;
    esac
    shift
  done
  "firmware_$name" "$name$precision" ${arguments[@]+"${arguments[@]}"}
}

# firmware_date_reader PROGRAM [FILE [MOST]]: reads the dates in the first MOST texts of FILE, or in all texts of FILE.
# Without FILE, reads the dates in 10 held-out texts.
firmware_date_reader() {
  local most=10
  if [ $# -gt 1 ]; then most=1000000; fi
  run_on_boards "$1" date-reader "${2:-$root/tests/data/dates_held_out.tsv}" "${3:-$most}"
}

# firmware_keywords PROGRAM [FILE.wav...]: spots the words in the files, by default in the recordings next to the model.
firmware_keywords() {
  local program=$1 folder files=(kwt1.safetensors) settings=()
  shift
  if [ $# = 0 ]; then files+=({yes,no,noise,silence}_1000ms.wav); fi
  folder=$(keywords_folder "${files[@]}")
  if [ -z "$folder" ]; then
    need python3 pip
    "$root/examples/keywords/fetch_model" --all >&2
    folder=$(keywords_folder "${files[@]}")
    [ -n "$folder" ] || die "there is no folder that has all of ${files[*]}"
  fi
  if [ $# = 0 ]; then set -- "${files[@]:1}"; set -- "${@/#/$folder/}"; fi
  need c++ nlohmann/json.hpp CLI/CLI.hpp # to build ladon-weights, which runs on this machine
  settings=(-DLADON_KEYWORDS_DIR="$folder" -DLADON_KISSFFT_DIR="$(kissfft_folder)")
  run_on_boards "$program" keywords "$@"
}

# run_on_boards PROGRAM FOLDER ARGS...: builds a program of examples/firmware for three cores, and runs it for each
# core. The caller's array `settings` has further arguments for CMake. The build for the first core also builds the
# program ladon-weights. The builds for the other cores use this program.
run_on_boards() {
  local program=$1 folder=$2 core dir tool=''
  shift 2
  for core in cortex-m4 cortex-m7 cortex-m55; do
    dir=$builds/$folder-$core
    configure_firmware "$root/examples/firmware" "$dir" "$core" ${settings[@]+"${settings[@]}"} \
      ${tool:+-DLADON_WEIGHTS_TOOL="$tool"}
    build "$dir" "$program"
    if [ -z "$tool" ] && [ -x "$dir/ladon/host_weights/ladon-weights" ]; then
      tool=$dir/ladon/host_weights/ladon-weights
    fi
    printf '%s, compiled by %s\n' "$core" "$(arm-none-eabi-g++ --version | head -n 1)"
    "$root/examples/firmware/board/run" "$core" "$dir/$program" "$@"
    printf '\n'
  done
}
