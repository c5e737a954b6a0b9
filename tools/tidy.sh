# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Implements ./dev tidy: runs the linters for C++, bash and Python.
: "${root:?}" "${builds:?}"

tidy() {
  tidy_bash
  tidy_python
  tidy_cpp
}

tidy_bash() {
  need shellcheck
  say "shellcheck"
  shellcheck "$root"/dev "$root"/tools/*.sh "$root"/.ci/run "$root"/bench/code_size "$root"/bench/arm/count "$root"/bench/firmware/inner_loops \
    "$root"/bench/peers/llama2c "$root"/examples/firmware/board/run "$root"/tests/instructions/tile_loops "$root"/tools/lock_requirements "$root"/findings/run "$root"/findings/*.sh
}

tidy_python() {
  local venv=$builds/tidy-venv
  need python3 pip
  python_packages "$venv" "$root/tools/tidy/requirements.txt"
  say "ruff"
  "$venv/bin/ruff" check --no-cache --quiet "$root" >&2
  python3 "$root/tools/tidy/check_requirements.py" "$root"
  say "names without a use"
  find "$root"/{src,tests,examples,fuzz} -name "*.cpp" \
    -exec python3 "$root/tools/tidy/check_unused_names.py" {} +
}

# Runs clang-tidy on the translation units of tools/tidy/CMakeLists.txt.
tidy_cpp() {
  local dir=$builds/tidy
  need clang++ cmake ninja clang-tidy xsimd/xsimd.hpp nlohmann/json.hpp CLI/CLI.hpp protozero/pbf_reader.hpp
  configure_source "$root/tools/tidy" "$dir" -DCMAKE_CXX_COMPILER="$(clang)"
  build "$dir" kernel_headers
  say "clang-tidy"
  "$(run_clang_tidy)" -p "$dir" -quiet -j "$(getconf _NPROCESSORS_ONLN)" -config-file="$root/.clang-tidy" 2>&1 |
    sed -E '/^\[.*clang-tidy|^Running clang-tidy|^[0-9]+ warnings? .*generated|^$/d' >&2
}
