# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The sources themselves: format, tidy, amalgamate.
: "${root:?}" "${builds:?}"

amalgamate() {
  local file=${1:-$builds/ladon.hpp}
  need cmake
  cmake -DOUTPUT="$file" -P "$root/cmake/amalgamate.cmake"
  say "wrote $file"
}

# format [--check]
format() {
  local how=(-i)
  check_functions
  if [ "${1:-}" = --check ]; then how=(--dry-run --Werror); fi
  need clang-format
  find "$root" -mindepth 1 \( -name build -o -name node_modules -o -name '.*' \) -prune -o \
    \( -name '*.hpp' -o -name '*.cpp' -o -name '*.h' -o -name '*.c' \) -print0 | xargs -0 "$(clang_format)" "${how[@]}"
}

# Fails where two files of tools/ define a function of the same name: bash keeps the last one and says nothing.
check_functions() {
  local twice
  twice=$(grep -hoE '^[a-z_]+\(\)' "$root/dev" "$root"/tools/*.sh | sort | uniq -d)
  [ -z "$twice" ] || die "dev and tools define ${twice//$'\n'/ } more than once"
}
