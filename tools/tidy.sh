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
}

# Runs clang-tidy on the translation units of tools/tidy/CMakeLists.txt.
tidy_cpp() {
  local dir=$builds/tidy
  need clang++ cmake ninja clang-tidy xsimd/xsimd.hpp nlohmann/json.hpp CLI/CLI.hpp protozero/pbf_reader.hpp
  configure_source "$root/tools/tidy" "$dir" -DCMAKE_CXX_COMPILER="$(clang)"
  build "$dir" kernel_headers
  say "clang-tidy"
  tidy_main_files
  "$(run_clang_tidy)" -p "$dir" -quiet -j "$(getconf _NPROCESSORS_ONLN)" -config-file="$root/.clang-tidy" 2>&1 |
    sed -E '/^\[.*clang-tidy|^Running clang-tidy|^[0-9]+ warnings? .*generated|^$/d' >&2
}

# Runs two checks that report only problems of main files. In a unity build, the sources are not main files, so these
# checks run on each source separately. The checks are about declarations of `using` and of aliases of namespaces, so
# sources without such a declaration are left out.
tidy_main_files() {
  local unused=misc-unused-alias-decls,misc-unused-using-decls
  grep -lZE '^ *(using [A-Za-z_:]+::|namespace [a-z_]+ =)' "$root"/src/{files,safetensors,weights}/*.cpp |
    xargs -0 -I FILE -P "$(getconf _NPROCESSORS_ONLN)" "$(clang_tidy)" -quiet -checks="-*,$unused" \
      -warnings-as-errors='*' FILE -- -std=c++20 -I"$root/include" -I"$root/src/files" -I"$root/src/safetensors" -I"$root/src/safetensors/include" -I"$root/src/weights" -I"$root/src/families" -I"$root/src/import" 2>&1 |
    sed -E '/^[0-9]+ warnings? .*generated|^$/d' >&2
}
