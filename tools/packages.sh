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
    firefox) command -v firefox-esr >/dev/null || command -v firefox >/dev/null ;;
    c++) command -v "${compiler%% *}" >/dev/null ;;
    clang++) [ -n "$(clang)" ] ;;
    libclang-rt) [ -n "$(clang)" ] && echo 'int main() {}' | "$(clang)" -fsanitize=address -xc++ - -o /dev/null 2>/dev/null ;;
    clang-format) [ -n "$(clang_format)" ] ;;
    clang-tidy) [ -n "$(run_clang_tidy)" ] ;;
    cargo) [ -n "$(new_cargo)" ] ;;
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
    cargo) if apt-cache show cargo-web >/dev/null 2>&1; then echo cargo-web; else echo cargo; fi ;;
    pip) echo python3-venv ;; # python3-venv contains pip
    em++) echo emscripten ;;
    firefox) echo firefox-esr ;;
    WebKitWebDriver) echo webkit2gtk-driver ;;
    Xvfb) echo xvfb ;;
    wasm-ld-19) echo lld-19 ;;
    llvm-nm) echo llvm ;;
    qemu-system-riscv32) echo qemu-system-misc ;;
    qemu-system-*) echo "$1" ;;
    qemu-*) echo qemu-user ;;
    x86_64-w64-mingw32-g++-*) echo "g++-mingw-w64-x86-64-${1##*-}" ;;
    wine) echo wine wine64 ;;
    arm-none-eabi-g++) echo gcc-arm-none-eabi libnewlib-arm-none-eabi libstdc++-arm-none-eabi-newlib ;;
    riscv64-unknown-elf-g++) echo gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf ;;
    *-linux-gnu*-g++) echo "g++-${1%-g++}" ;;
    clang++ | clang-format | clang-tidy) newest "${1%++}" ;;
    libclang-rt) echo "libclang-rt-$("$(clang)" -dumpversion | cut -d. -f1)-dev" ;;
    xsimd/*) echo libxsimd-dev ;;
    doctest/*) echo doctest-dev ;;
    nlohmann/*) echo nlohmann-json3-dev ;;
    CLI/*) echo libcli11-dev ;;
    protozero/*) echo libprotozero-dev ;;
    oneapi/*) echo libdnnl-dev ;;
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

# new_cargo: prints the path of a cargo that can compile src/tokenizer. Debian 12 has an older cargo in the package cargo,
# and a newer cargo in the package cargo-web.
new_cargo() {
  local path version
  if path=$(type -P cargo) && version=$("$path" --version 2>/dev/null); then
    version=${version#cargo }
    if [ "$(printf '%s\n' 1.85 "${version%% *}" | sort -V | head -n 1)" = 1.85 ]; then printf '%s\n' "$path"; fi
  fi
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
    printf '\n  %s' 'Fedora:  dnf install gcc-c++ cmake ninja-build pkgconf-pkg-config xsimd-devel cli11-devel doctest-devel json-devel protozero-devel' \
      'macOS:   xcode-select --install; brew install cmake ninja pkgconf xsimd cli11 doctest nlohmann-json protozero' \
      'Windows: as on Debian in WSL'
  fi
}

# kissfft_folder: prints the folder with the sources of KissFFT, for CMake's LADON_KISSFFT_DIR. No binary package has
# these sources. On Debian, the function downloads the source package. On other systems, the function prints nothing,
# and CMake fetches the sources.
kissfft_folder() {
  local folder=${LADON_KISSFFT_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/ladon/kissfft-131.1.0}
  if [ -n "${LADON_KISSFFT_DIR:-}" ] || [ -e "$folder/kiss_fftr.c" ] || kissfft_of_debian "$folder"; then
    printf '%s\n' "$folder"
  else
    say "KissFFT: there is no source package, so CMake fetches a pinned version"
  fi
}

# kissfft_of_debian FOLDER: unpacks the orig.tar.gz of Debian's source package into FOLDER. Fails if the checksum of the
# archive is not the one that CMake requires. After a failure, FOLDER does not exist. Needs no root.
kissfft_of_debian() (
  command -v apt-get >/dev/null || return 1
  say "getting the sources of KissFFT from Debian's source package"
  mkdir -p "${1%/*}" || return 1
  work=$(mktemp -d "${1%/*}/.kissfft-XXXXXX") || return 1
  trap 'rm -rf "$work"' EXIT
  mkdir "$work/unpacked"
  source_package kissfft "$work" >"$work/log" 2>&1 || { tail -n 5 "$work/log" >&2; return 1; }
  sha256=$(sed -n '/mborgerding\/kissfft/{n;s/.*SHA256=\([0-9a-f]*\).*/\1/p}' "$root/cmake/dependencies.cmake")
  printf '%s  %s\n' "$sha256" "$(find "$work" -name 'kissfft_*.orig.tar.gz')" | sha256sum --check --status || return 1
  tar -xzf "$work"/kissfft_*.orig.tar.gz -C "$work/unpacked" --strip-components=1 --no-same-owner || return 1
  mv -T "$work/unpacked" "$1" 2>/dev/null || [ -e "$1/kiss_fftr.c" ] # another run may have been faster
)

# source_package NAME FOLDER: downloads the orig.tar of Debian's source package NAME into FOLDER. The files of /etc/apt
# that name package servers usually name them for binary packages only. The function therefore copies these files, and
# names the servers for source packages in the copies. apt stores its package lists and its cache in FOLDER/apt.
source_package() {
  local list options
  mkdir -p "$2/apt/lists/partial" "$2/apt/sources"
  for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ ! -e "$list" ] || sed -n 's/^deb\(-src\)\{0,1\}[[:space:]]/deb-src /p' "$list" >>"$2/apt/sources/machine.list"
  done
  for list in /etc/apt/sources.list.d/*.sources; do
    [ ! -e "$list" ] || sed 's/^[Tt]ypes:.*/Types: deb-src/' "$list" >"$2/apt/sources/${list##*/}"
  done
  # If root runs apt, apt by default downloads as the user _apt, who may not enter the temporary folder. With
  # APT::Sandbox::User=root, apt downloads as root.
  options=(-o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$2/apt/sources" -o APT::Sandbox::User=root
    -o Dir::State::Lists="$2/apt/lists" -o Dir::Cache="$2/apt" -o Acquire::Retries=3)
  apt-get "${options[@]}" update || true # fails if a server has no source packages, but another may have NAME
  (cd "$2" && apt-get "${options[@]}" source --download-only --tar-only "$1")
}
