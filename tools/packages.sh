# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Functions that install the packages that a step needs.
: "${root:?}" "${compiler:?}"

# need THING...: installs each THING that is missing. A THING is a command, a header (its name has a dot), or one of the
# words in has(). has() looks for the command or the file, and not for its Debian package, because a user may have
# installed the command or the file without apt.
need() {
  local thing missing=() commands=()
  for thing in "$@"; do
    if has "$thing"; then continue; fi
    missing+=("$thing")
    case $thing in *.*) ;; *) commands+=("$thing") ;; esac
  done
  if [ ${#missing[@]} = 0 ]; then return; fi
  if install "${missing[@]}"; then
    for thing in "${missing[@]}"; do has "$thing" || die "$thing is still missing"; done
  elif [ ${#commands[@]} -gt 0 ]; then
    die "this step needs ${commands[*]}$(advice "${missing[@]}")"
  else
    say "${missing[*]}: not installed, so CMake fetches a pinned version$(advice "${missing[@]}")"
  fi
}

has() {
  case $1 in
    c++) command -v "${compiler%% *}" >/dev/null ;;
    clang++) [ -n "$(clang)" ] ;;
    libclang-rt) [ -n "$(clang)" ] && echo 'int main() {}' | "$(clang)" -fsanitize=address -xc++ - -o /dev/null 2>/dev/null ;;
    clang-format) [ -n "$(clang_format)" ] ;;
    clang-tidy) [ -n "$(run_clang_tidy)" ] ;;
    pip) python3 -c 'import pip' 2>/dev/null || python3 -c 'import ensurepip, venv' 2>/dev/null ;;
    *.*) if ! command -v "${compiler%% *}" >/dev/null; then [ -e "/usr/include/$1" ]; return; fi
      printf '#if !__has_include(<%s>)\n#error\n#endif\n' "$1" | $compiler -E -xc++ - >/dev/null 2>&1 ;;
    *) command -v "$1" >/dev/null ;;
  esac
}

package_of() {
  case $1 in
    c++) echo g++ ;;
    ninja) echo ninja-build ;;
    pkg-config) echo pkgconf ;;
    node) echo nodejs ;;
    pip) echo python3-venv ;; # python3-venv contains pip
    em++) echo emscripten ;;
    wasm-ld-19) echo lld-19 ;;
    qemu-aarch64) echo qemu-user ;;
    qemu-system-riscv32) echo qemu-system-misc ;;
    arm-none-eabi-g++) echo gcc-arm-none-eabi libnewlib-arm-none-eabi libstdc++-arm-none-eabi-newlib ;;
    riscv64-unknown-elf-g++) echo gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf ;;
    aarch64-linux-gnu-g++) echo g++-aarch64-linux-gnu ;;
    clang++ | clang-format | clang-tidy) newest "${1%++}" ;;
    libclang-rt) echo "libclang-rt-$("$(clang)" -dumpversion | cut -d. -f1)-dev" ;;
    xsimd/*) echo libxsimd-dev ;;
    doctest/*) echo doctest-dev ;;
    nlohmann/*) echo nlohmann-json3-dev ;;
    CLI/*) echo libcli11-dev ;;
    oneapi/*) echo libdnnl-dev ;;
    utf8proc.h) echo libutf8proc-dev ;;
    sndfile.h) echo libsndfile1-dev ;;
    samplerate.h) echo libsamplerate0-dev ;;
    benchmark/*) echo libbenchmark-dev ;;
    *) echo "$1" ;;
  esac
}

# clang: prints the name of a clang++ of at least version 16. Debian 12's default clang++ has version 14, which cannot
# compile Ladon.
clang() {
  local name
  for name in clang++-19 clang++; do
    if command -v $name >/dev/null && [ "$($name -dumpversion | cut -d. -f1)" -ge 16 ]; then echo $name; return; fi
  done
}

clang_format() { command -v clang-format-19 || command -v clang-format || true; }
clang_tidy() { command -v clang-tidy-19 || command -v clang-tidy || true; }
run_clang_tidy() { command -v run-clang-tidy-19 || command -v run-clang-tidy || true; }

newest() { if apt-cache show "$1-19" >/dev/null 2>&1; then echo "$1-19"; else echo "$1"; fi; }

install() {
  local thing log names packages=() as_root=()
  command -v apt-get >/dev/null || return 1
  if [ "$(id -u)" != 0 ]; then as_root=(sudo); command -v sudo >/dev/null || return 1; fi
  say "$* missing; asking apt-get${as_root:+ (by sudo)}"
  log=$(mktemp)
  if apt_get update -qq >"$log" 2>&1; then
    for thing in "$@"; do read -ra names <<<"$(package_of "$thing")"; packages+=("${names[@]}"); done
    say "installing ${packages[*]}"
    if apt_get install -y --no-install-recommends "${packages[@]}" >"$log" 2>&1; then rm "$log"; return; fi
  fi
  tail -n 20 "$log" >&2
  rm "$log"
  return 1
}

apt_get() {
  ${as_root:+sudo} env DEBIAN_FRONTEND=noninteractive \
    apt-get -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@" </dev/null
}

advice() {
  if command -v apt-get >/dev/null; then
    printf '\n  as root: apt-get install --no-install-recommends'
    for thing in "$@"; do printf ' %s' "$(package_of "$thing")"; done
  else
    printf '\n  %s' 'Fedora:  dnf install gcc-c++ cmake ninja-build pkgconf-pkg-config xsimd-devel cli11-devel doctest-devel json-devel' \
      'macOS:   xcode-select --install; brew install cmake ninja pkgconf xsimd cli11 doctest nlohmann-json' \
      'Windows: as on Debian in WSL'
  fi
}
