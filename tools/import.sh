# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Implements ./dev import: writes C++ programs for models, and checks them.
: "${root:?}" "${builds:?}"

# import_model FOLDER [ARGS...]: passes the arguments to ladon-import. With --check [IO.safetensors] (by default, see
# sample_of), also builds the program, runs it on the recorded inputs, and compares the result.
# With --check-all [--docs] FOLDER...: does so for each folder of a model, or each such folder in FOLDER, and prints a line.
# With --docs, also writes the column of whole models in docs/families.md.
#     NAME ok ERROR          the largest error, relative to the largest number of the last hidden state
#     NAME missing REASON
#     NAME skipped           there are no recorded inputs
#     NAME wrong REASON      the exit status is 1
# With --wasm DIR, writes what a web page needs into DIR (import_wasm). Then --check runs it in Node.
# With --dry-run, also prints the memory of a call at each precision.
# With --c DIR, also builds the library. With --firmware DIR --cpu CORE, also builds it for this core, and prints what it
# takes of flash, RAM and stack; then --check runs it in QEMU.
import_model() {
  [ $# -gt 0 ] || die "name a folder with config.json, and safetensors files or model.onnx; ./dev import --help lists the options"
  if [ "$1" = --check-all ]; then check_all_imports "${@:2}"; return; fi
  local folder=$1 cpp='' c='' core='' io='' precision=float32 arguments=() tool firmware='' web='' memory=''
  while [ $# -gt 0 ]; do
    case $1 in
      --check)
        io=default
        if [ $# -gt 1 ] && [[ $2 != --* ]]; then io=$2; shift; fi ;;
      --cpp | --precision)
        [ $# -gt 1 ] || die "$1 needs a value"
        if [ "$1" = --cpp ]; then cpp=$2; else precision=$2; fi
        arguments+=("$1" "$2"); shift ;;
      --wasm)
        [ $# -gt 1 ] || die "--wasm needs a folder"
        web=$2; shift ;;
      --c | --firmware)
        [ $# -gt 1 ] || die "$1 needs a folder"
        if [ "$1" = --firmware ]; then firmware=yes; fi
        c=$2; arguments+=(--c "$2"); shift ;;
      --cpu)
        [ $# -gt 1 ] || die "--cpu needs a core, such as cortex-m4"
        core=$2; shift ;;
      --dry-run)
        memory=$builds/import/memory
        arguments+=(--dry-run --memory "$memory") ;;
      *) arguments+=("$1") ;;
    esac
    shift
  done
  if [ -n "$firmware" ] && [ -z "$core" ]; then die "--firmware needs --cpu, such as --cpu cortex-m4"; fi
  if [ -n "$web" ] && [ -n "$c$cpp" ]; then die "--wasm goes with none of --c, --cpp and --firmware"; fi
  if [ "$io" = default ]; then io=$(sample_of "$folder"); fi
  tool=$(import_tool)
  if [ -n "$web" ]; then
    import_wasm "$tool" "$folder" "$web" "$precision" "${arguments[@]}"
    if [ -n "$io" ]; then check_wasm "$tool" "$web" "$io" "$precision"; fi
    return
  fi
  if [ -n "$c" ]; then
    "$tool" "${arguments[@]}"
    build_c "$tool" "$folder" "$c" "$io" "$precision" "$core"
    return
  fi
  if [ -z "$io" ]; then
    "$tool" "${arguments[@]}"
    if [ -n "$memory" ]; then print_memory "$memory"; fi
    return
  fi
  if [ -z "$cpp" ]; then
    cpp=$builds/import/$(basename "$folder")
    arguments+=(--cpp "$cpp")
  fi
  "$tool" "${arguments[@]}"
  check_import "$tool" "$folder" "$cpp" "$io" "$precision"
}

# sample_of FOLDER: prints the file with recorded inputs and results of the model: io.safetensors in FOLDER, or a new file
# in which transformers, the original, records them.
sample_of() {
  local folder=$1 python=${LADON_PYTHON:-python3} sample
  # Without config.json, ladon-import says what is wrong with the folder.
  if [ -e "$folder/io.safetensors" ] || [ ! -e "$folder/config.json" ]; then printf '%s\n' "$folder/io.safetensors"; return; fi
  "$python" -c 'import torch, transformers, safetensors' 2>/dev/null ||
    die "--check compares with recorded results, and $folder has no io.safetensors: name a file (--check IO.safetensors), or install the Python packages torch, transformers and safetensors, so that the original computes the results (LADON_PYTHON names another python3)"
  sample=$builds/import/$(basename "$folder")_io.safetensors
  mkdir -p "$builds/import"
  say "the original computes a sample"
  "$python" -B "$root/tools/export/record_sample.py" "$folder" "$sample" >&2 || die "transformers cannot compute $folder: name a file with recorded results (--check IO.safetensors)"
  printf '%s\n' "$sample"
}

# weights_of FOLDER DIR: prints the folder with the weights of the program in DIR: FOLDER, or DIR/weights if FOLDER has
# an ONNX file.
weights_of() {
  local file
  for file in model.safetensors model.safetensors.index.json; do
    if [ -e "$1/$file" ]; then printf '%s\n' "$1"; return; fi
  done
  if [ -e "$1/model.onnx" ] || [ -e "$1/onnx/model.onnx" ]; then printf '%s\n' "$2/weights"; else printf '%s\n' "$1"; fi
}

# Builds ladon-import, and prints its path.
import_tool() {
  local dir
  dir=$(tools_folder)
  build "$dir" ladon_import
  printf '%s\n' "$dir/src/import/ladon-import"
}

# Builds ladon-weights, and prints its path.
weights_tool() {
  local dir
  dir=$(tools_folder)
  build "$dir" ladon_weights
  printf '%s\n' "$dir/src/weights/ladon-weights"
}

# Prints a configured folder for the tools: that of `./dev test`, if it is there.
tools_folder() {
  local dir=$builds/native
  if [ ! -e "$dir/dev-configured" ]; then dir=$builds/import-tool; configure_import_tool "$dir"; fi
  printf '%s\n' "$dir"
}

configure_import_tool() {
  need c++ cmake ninja xsimd/xsimd.hpp nlohmann/json.hpp CLI/CLI.hpp protozero/pbf_reader.hpp
  # The tool reads names and sizes, and writes texts, so it needs neither optimisation nor vectors. Compared with -O1 and
  # xsimd, compilation takes two thirds of the processor time (g++ 12).
  configure "$1" --preset native -DLADON_EXAMPLES= -DLADON_BUILD_BENCH=OFF -DLADON_BUILD_TESTS=OFF \
    -DLADON_ARRAY_LANES=4 -DCMAKE_UNITY_BUILD=ON -DCMAKE_CXX_FLAGS_RELEASE="-O0 -DNDEBUG"
}

# print_memory PROJECT: builds the program that `ladon-import --memory` wrote for this machine, and runs it.
print_memory() {
  configure_source "$1" "$1/build" -DLADON_SOURCE_DIR="$root" -DCMAKE_BUILD_TYPE=Release
  build "$1/build" memory
  "$1/build/memory"
}

# check_import TOOL FOLDER CPP IO PRECISION [CMAKE ARGS...]: builds and runs the program in the folder CPP.
check_import() {
  local tool=$1 folder=$2 cpp=$3 io=$4 precision=$5 program
  cmake -S "$cpp" -B "$cpp/build" -G Ninja -DLADON_SOURCE_DIR="$root" "${@:6}" >"$cpp/configure.log" 2>&1 ||
    die "CMake fails: see $cpp/configure.log"
  rm "$cpp/configure.log"
  cmake --build "$cpp/build" >&2
  program=$(sed -n 's/^project(\([a-z0-9_]*\) .*/\1/p' "$cpp/CMakeLists.txt")
  "$cpp/build/$program" "$(weights_of "$folder" "$cpp")" --inputs "$io" --outputs "$cpp/build/last.safetensors"
  "$tool" --compare "$io" "$cpp/build/last.safetensors" --precision "$precision"
}

# build_c TOOL FOLDER C IO PRECISION CORE: builds the C library in the folder C, for this machine and for CORE, if any.
build_c() {
  local tool=$1 folder=$2 c=$3 io=$4 precision=$5 core=$6 name targets environment=("LADON_SAMPLE=$3/build/sample")
  name=$(sed -n 's/^project(\([a-z0-9_]*\) .*/\1/p' "$c/CMakeLists.txt")
  targets=("$name" "${name}_main")
  if [ -n "$core" ]; then targets=("${name}_weights_file"); fi
  if [ -n "$io" ]; then targets+=("${name}_check"); fi
  if [ -n "$io" ] && grep -q ' WEIGHTS mapped' "$c/CMakeLists.txt"; then
    targets+=("${name}_weights_file")
    environment+=("LADON_WEIGHTS=$c/build/$name.weights")
  fi
  cmake -S "$c" -B "$c/build" -G Ninja -DLADON_SOURCE_DIR="$root" -DCHECKPOINT="$(cd "$(weights_of "$folder" "$c")" && pwd)" \
    >"$c/configure.log" 2>&1 || die "CMake fails: see $c/configure.log"
  rm "$c/configure.log"
  cmake --build "$c/build" --target "${targets[@]}" >&2
  if [ -n "$io" ]; then
    env "${environment[@]}" "$c/build/${name}_check" "$folder" --inputs "$io" \
      --outputs "$c/build/last.safetensors"
    "$tool" --compare "$io" "$c/build/last.safetensors" --precision "$precision"
  fi
  if [ -z "$core" ]; then
    say "$c/$name.h, $c/build/lib$name.a"
    return
  fi
  configure_firmware "$c" "$c/$core" "$core" -DLADON_SOURCE_DIR="$root" -DIMAGE="$(cd "$c" && pwd)/build/$name.weights"
  cmake --build "$c/$core" --target "$name" "${name}_board" >&2
  cmake --build "$c/$core" --target "${name}_report"
  say "$c/$name.h, $c/$core/lib$name.a"
  if [ -n "$io" ]; then "$root/examples/firmware/board/run" "$core" "$c/$core/${name}_board" "$c/build/sample"; fi
}

check_all_imports() {
  local dir=$builds/import list folder program out line document='' status=0
  if [ "${1:-}" = --docs ]; then document=yes; shift; fi
  [ $# -gt 0 ] || die "name a folder with config.json, model.safetensors and io.safetensors, or a folder of such folders"
  need_examples doctest/doctest.h
  list=$(for folder in "$@"; do family_folders "$folder"; done | paste -sd ';')
  [ -n "$list" ] || die "no folder has a config.json and an io.safetensors: $*"
  configure "$dir" --preset native -DLADON_EXAMPLES= -DLADON_BUILD_BENCH=OFF -DLADON_IMPORTED="$list"
  # Continues after a program that does not compile.
  cmake --build "$dir" --target ladon_import ladon_imported_programs -- -k 0 >"$dir/build.log" 2>&1 ||
    say "a program does not compile: see $dir/build.log"
  rm -f "$dir/results.txt"
  while read -r folder program out; do
    line=$(cmake -DTOOL="$dir/src/import/ladon-import" -DPROGRAM="$program" -DFOLDER="$folder" -DOUT="$out" \
      -P "$root/tests/import/check.cmake")
    printf '%s\n' "$line" | tee -a "$dir/results.txt"
    case $line in *' wrong'*) status=1 ;; esac
  done <"$dir/tests/import/programs.txt"
  if [ -n "$document" ]; then document_families "$list" -DIMPORTED="$dir/results.txt"; fi
  return $status
}
