# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Implements ./dev test --platform: tests the platforms of tools/platforms/table with cross compilers and emulators.
: "${root:?}" "${builds:?}"

platform_names() { sed -n 's/^\([a-z][^ ]*\) .*/\1/p' "$root/tools/platforms/table"; }

# platform_row NAME: prints the columns of a platform, one a line.
platform_row() { sed -n "s/ *| */\n/g; /^$1\n/p" "$root/tools/platforms/table"; }

# need_platform NAME: installs the compiler and the emulator of a platform.
need_platform() {
  local row needs
  mapfile -t row < <(platform_row "$1")
  read -ra needs <<<"${row[2]}"
  if [ "${needs[0]}" = zig ]; then need pip; need_zig; fi
  need "${needs[@]}"
  if [[ " ${needs[*]} " = *" wine "* ]]; then start_wine; fi
}

# Wine writes its messages to stderr, and keeps the registry of a fake Windows in WINEPREFIX. The first program makes this
# folder, and a second one beside it can fail. So a program that does nothing comes first.
start_wine() {
  export WINEDEBUG=-all WINEPREFIX=$builds/wine
  if [ ! -e "$WINEPREFIX/system.reg" ]; then wine wineboot --init >/dev/null 2>&1 || die "wine does not start"; fi
}

# need_zig: installs the program zig with pip, and puts it into PATH.
need_zig() {
  local bin=$builds/zig/bin
  python_packages "$builds/zig" "$root/tools/platforms/requirements.txt"
  ln -sf "$("$bin/python" -c 'import os, ziglang; print(os.path.dirname(ziglang.__file__))')/zig" "$bin/zig"
  export PATH=$bin:$PATH
}

# test_platform NAME [--brief] [--record] [CTEST ARGS...]: builds the quick test set of a platform and runs it. --brief
# builds and runs only the tests with the label "brief". --record stores what was tested in tools/platforms/records, and
# rewrites the table of docs/platforms.md. Linux can't run programs for macOS and iOS: they are compiled and linked, and the
# tests with the label "linked" check the symbols of C libraries. For iOS, only these libraries are compiled.
test_platform() {
  local name=${1:?--platform takes a name: $(platform_names | paste -sd ' ')}
  local set=quick targets=(all) label='' record='' options=() row dir status=0
  shift
  while [ $# -gt 0 ]; do
    case $1 in
      --brief) set=brief targets=(brief_tests) label=brief ;;
      --record) record=yes ;;
      *) options+=("$1") ;;
    esac
    shift
  done
  [ -z "$record" ] || [ ${#options[@]} = 0 ] || die "--record stores only runs without options of ctest"
  mapfile -t row < <(platform_row "$name")
  [ ${#row[@]} -ge 4 ] || die "no platform is called '$name'; there are $(platform_names | paste -sd ' ')"
  if [ "$(uname -sm)" != 'Linux x86_64' ]; then say "$name: skipped, needs Linux on x86-64"; return; fi
  need cmake ninja python3 xsimd/xsimd.hpp doctest/doctest.h nlohmann/json.hpp
  need_platform "$name"
  case $name in
    macos*) set=linked targets=(all) label=linked ;;
    ios) set=compiled targets=(c_masked c_stack) label=linked ;;
  esac
  dir=$builds/platform-$name
  say "testing the platform $name"
  configure "$dir" --preset "${row[3]}" -DLADON_TEST_SET=quick -DCMAKE_UNITY_BUILD=ON -DLADON_EXAMPLES= \
    -DLADON_BUILD_WEIGHTS_TOOL=OFF -DLADON_WERROR="${CI:+ON}" "${row[@]:4}"
  build "$dir" "${targets[@]}"
  if [ -n "$label" ]; then options=(-L "$label" ${options[@]+"${options[@]}"}); fi
  ctest_in "$dir" --output-junit "$dir/results.xml" ${options[@]+"${options[@]}"} || status=$?
  if [ -n "$record" ]; then
    python3 "$root/tools/platforms/records.py" store "$name" "$dir" "$set"
  fi
  return $status
}
