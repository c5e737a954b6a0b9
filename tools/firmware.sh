# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Projects for microcontrollers, and the date reader on them: ./dev firmware.
: "${root:?}" "${builds:?}"

cores=(cortex-m0plus cortex-m4 cortex-m7 cortex-m33 cortex-m55 rv32imafc)

# configure_firmware PROJECT FOLDER CORE ARGS...
configure_firmware() {
  local toolchain=arm-none-eabi
  [[ " ${cores[*]} " = *" $3 "* ]] || die "no core is called '$3'; there are ${cores[*]}"
  if [ "$3" = rv32imafc ]; then
    toolchain=riscv32-unknown-elf
    need arm-none-eabi-g++ # its C++ headers serve RISC-V too
    need cmake ninja riscv64-unknown-elf-g++ qemu-system-riscv32
  else
    need cmake ninja arm-none-eabi-g++ qemu-system-arm
  fi
  cmake -S "$1" -B "$2" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$root/cmake/$toolchain.cmake" -DLADON_CPU="$3" \
    -DLADON_WERROR="${CI:+ON}" "${@:4}" >&2
}

# firmware_demo [date_reader] [--precision float32|int8] [FILE [MOST]]
firmware_demo() {
  local core program=date_reader list='' most='' dir
  if [ "${1:-}" = date_reader ]; then shift; fi
  while [ $# -gt 0 ]; do
    case $1 in
      --precision)
        case ${2:-} in
          float32) program=date_reader ;;
          int8) program=date_reader_int8 ;;
          *) die "--precision takes float32 or int8" ;;
        esac
        shift ;;
      *)
        if [ -z "$list" ]; then list=$1 most=${most:-1000000}; else most=$1; fi ;;
    esac
    shift
  done
  for core in cortex-m4 cortex-m7 cortex-m55; do
    dir=$builds/date-reader-$core
    configure_firmware "$root/examples/firmware" "$dir" "$core"
    build "$dir" "$program"
    printf '%s, compiled by %s\n' "$core" "$(arm-none-eabi-g++ --version | head -n 1)"
    "$root/examples/firmware/board/run" "$core" "$dir/$program" \
      "${list:-$root/tests/data/dates_held_out.tsv}" "${most:-10}"
    printf '\n'
  done
}
