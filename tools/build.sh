# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Functions that configure, build and test a CMake project.
: "${root:?}"

# configure FOLDER ARGS...: configures this checkout.
configure() { configure_source "$root" "$@"; }

# configure_source SOURCE FOLDER ARGS...: runs CMake the first time, and whenever SOURCE, the compiler or ARGS differ
# from those of the last run. If a CMake file has changed, ninja runs CMake again.
configure_source() {
  local source=$1 dir=$2 stamp
  shift 2
  stamp="$source|${CXX:-}|$*"
  if [ -e "$dir/build.ninja" ] && [ "$(cat "$dir/dev-configured" 2>/dev/null)" = "$stamp" ]; then return; fi
  rm -f "$dir/dev-configured"
  say "configuring ${dir##*/}"
  cmake --fresh -S "$source" -B "$dir" -G Ninja "$@" >&2
  printf '%s\n' "$stamp" >"$dir/dev-configured"
}

# build FOLDER TARGET...: builds targets of a configured folder.
build() { cmake --build "$1" --target "${@:2}" | sed '/^ninja: no work to do/d' >&2; }

# ctest_in FOLDER ARGS...: runs the tests of a folder. Copies the log of each run to a new file, so that
# .ci/check_skipped sees the skipped tests of every run.
ctest_in() {
  local status=0 logs=$1/Testing/Temporary
  ctest --test-dir "$1" -j "$(getconf _NPROCESSORS_ONLN)" --output-on-failure --no-tests=error "${@:2}" || status=$?
  cp "$logs/LastTest.log" "$logs/run-$(find "$logs" -name 'run-*.log' | wc -l).log"
  return $status
}
