# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Implements ./dev import: writes C++ programs for models, and checks them.
: "${root:?}" "${builds:?}"

# import_model FOLDER [ARGS...]: passes the arguments to ladon-import. With --check [IO.safetensors] (by default, the
# folder's io.safetensors), also builds the program, runs it on the recorded inputs, and compares the result.
# With --check-all FOLDER...: does so for each folder of a model, or each such folder in FOLDER, and prints a line:
#     NAME ok ERROR          the largest error, relative to the largest number of the last hidden state
#     NAME missing REASON
#     NAME skipped           there are no recorded inputs
#     NAME wrong REASON      the exit status is 1
import_model() {
  [ $# -gt 0 ] || die "name a folder with config.json and safetensors files; ./dev import --help lists the options"
  if [ "$1" = --check-all ]; then check_all_imports "${@:2}"; return; fi
  local folder=$1 cpp='' io='' precision=float32 arguments=() tool
  while [ $# -gt 0 ]; do
    case $1 in
      --check)
        io=$folder/io.safetensors
        if [ $# -gt 1 ] && [[ $2 != --* ]]; then io=$2; shift; fi ;;
      --cpp | --precision)
        [ $# -gt 1 ] || die "$1 needs a value"
        if [ "$1" = --cpp ]; then cpp=$2; else precision=$2; fi
        arguments+=("$1" "$2"); shift ;;
      *) arguments+=("$1") ;;
    esac
    shift
  done
  tool=$(import_tool)
  if [ -z "$io" ]; then "$tool" "${arguments[@]}"; return; fi
  if [ -z "$cpp" ]; then
    cpp=$builds/import/$(basename "$folder")
    arguments+=(--cpp "$cpp")
  fi
  "$tool" "${arguments[@]}"
  check_import "$tool" "$folder" "$cpp" "$io" "$precision"
}

# Builds ladon-import, and prints its path.
import_tool() {
  local dir=$builds/import-tool
  need c++ cmake ninja xsimd/xsimd.hpp nlohmann/json.hpp CLI/CLI.hpp
  configure "$dir" --preset native -DLADON_EXAMPLES= -DLADON_BUILD_BENCH=OFF -DLADON_BUILD_TESTS=OFF
  build "$dir" ladon_import
  printf '%s\n' "$dir/src/import/ladon-import"
}

# check_import TOOL FOLDER CPP IO PRECISION [CMAKE ARGS...]: builds and runs the program in the folder CPP.
check_import() {
  local tool=$1 folder=$2 cpp=$3 io=$4 precision=$5 program
  cmake -S "$cpp" -B "$cpp/build" -G Ninja -DLADON_SOURCE_DIR="$root" "${@:6}" >"$cpp/configure.log" 2>&1 ||
    die "CMake fails: see $cpp/configure.log"
  rm "$cpp/configure.log"
  cmake --build "$cpp/build" >&2
  program=$(sed -n 's/^project(\([a-z0-9_]*\) .*/\1/p' "$cpp/CMakeLists.txt")
  "$cpp/build/$program" "$folder" --inputs "$io" --outputs "$cpp/build/last.safetensors"
  "$tool" --compare "$io" "$cpp/build/last.safetensors" --precision "$precision"
}

check_all_imports() {
  local dir=$builds/import list folder program out line status=0
  [ $# -gt 0 ] || die "name a folder with config.json, model.safetensors and io.safetensors, or a folder of such folders"
  need_examples doctest/doctest.h
  list=$(for folder in "$@"; do family_folders "$folder"; done | paste -sd ';')
  [ -n "$list" ] || die "no folder has a config.json and an io.safetensors: $*"
  configure "$dir" --preset native -DLADON_EXAMPLES= -DLADON_BUILD_BENCH=OFF -DLADON_IMPORTED="$list"
  # Continues after a program that does not compile.
  cmake --build "$dir" --target ladon_import ladon_imported_programs -- -k 0 >"$dir/build.log" 2>&1 ||
    say "a program does not compile: see $dir/build.log"
  while read -r folder program out; do
    line=$(cmake -DTOOL="$dir/src/import/ladon-import" -DPROGRAM="$program" -DFOLDER="$folder" -DOUT="$out" \
      -P "$root/tests/import/check.cmake")
    printf '%s\n' "$line"
    case $line in *' wrong'*) status=1 ;; esac
  done <"$dir/tests/import/programs.txt"
  return $status
}
