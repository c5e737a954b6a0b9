# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Implements ./dev format and ./dev amalgamate.
: "${root:?}" "${builds:?}"

amalgamate() {
  local file=${1:-$builds/ladon.hpp}
  need cmake
  cmake -DOUTPUT="$file" -P "$root/cmake/amalgamate.cmake"
  say "wrote $file"
}

# format [--check]: formats all C and C++ sources, or checks their format.
format() {
  local how=(-i)
  check_functions
  if [ "${1:-}" = --check ]; then how=(--dry-run --Werror); fi
  need clang-format
  find "$root" -mindepth 1 \( -name build -o -name node_modules -o -name '.*' \) -prune -o \
    \( -name '*.hpp' -o -name '*.cpp' -o -name '*.h' -o -name '*.c' \) -print0 | xargs -0 "$(clang_format)" "${how[@]}"
}

# Fails if two files of tools/ define functions with equal names. bash would silently use the last function.
check_functions() {
  local twice
  twice=$(grep -hoE '^[a-z_]+\(\)' "$root/dev" "$root"/tools/*.sh | sort | uniq -d)
  [ -z "$twice" ] || die "dev and tools define ${twice//$'\n'/ } more than once"
}
