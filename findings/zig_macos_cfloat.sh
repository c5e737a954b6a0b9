#!/usr/bin/env bash
# With zig c++ 0.17.1 (clang 22.1, libc++, the headers of macOS) and -std=c++20 for macOS, DBL_EPSILON is undeclared if
# <cmath>, or another header that includes it such as <vector>, stands before <cfloat>. With <cfloat> first, with C++17,
# in C and for Linux, the same lines compile. In C++20, clang reports the feature `modules`. Apple's <math.h> then asks
# <float.h> for the macros INFINITY and NAN alone. libc++'s <float.h> takes this for a complete inclusion, and its guard
# skips the next one. doctest 2.4.9, which includes <cfloat> after its other headers, does not compile.
# Way out: include <cfloat> first. Needs pip.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check ziglang==0.17.1

# try STANDARD TARGET HEADER...: prints whether a file with these headers knows DBL_EPSILON
try() {
  local standard=$1 target=$2
  shift 2
  { printf '#include <%s>\n' "$@"; echo 'double epsilon = DBL_EPSILON;'; } >file.cpp
  if venv/bin/python -m ziglang c++ "-std=$standard" -target "$target" -c file.cpp -o file.o 2>messages; then
    echo "$standard $target $*: compiles"
  else
    echo "$standard $target $*: $(grep -o 'undeclared identifier.*' messages)"
  fi
}

{
  try c++20 aarch64-macos.12.0 cmath cfloat
  try c++20 aarch64-macos.12.0 vector cfloat
  try c++20 x86_64-macos.12.0 cmath cfloat
  try c++20 aarch64-macos.12.0 cfloat cmath
  try c++17 aarch64-macos.12.0 cmath cfloat
  try c++20 aarch64-linux-musl cmath cfloat
} | tee output
# Output on 30 November 2026:
diff output - <<'EOF'
c++20 aarch64-macos.12.0 cmath cfloat: undeclared identifier 'DBL_EPSILON'
c++20 aarch64-macos.12.0 vector cfloat: undeclared identifier 'DBL_EPSILON'
c++20 x86_64-macos.12.0 cmath cfloat: undeclared identifier 'DBL_EPSILON'
c++20 aarch64-macos.12.0 cfloat cmath: compiles
c++17 aarch64-macos.12.0 cmath cfloat: compiles
c++20 aarch64-linux-musl cmath cfloat: compiles
EOF
