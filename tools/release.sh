# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Implements ./dev release: makes the files of a release. Two runs for the same commit give equal bytes.
: "${root:?}" "${builds:?}"

# release [FOLDER]: makes all files of a release in FOLDER.
release() {
  local out=${1:-$builds/release} version url
  need git cmake ninja node npm python3 pip nlohmann/json.hpp CLI/CLI.hpp protozero/pbf_reader.hpp
  [ -z "$(git -C "$root" status --porcelain)" ] || die "a release is made from a commit: commit or stash your changes"
  url=$(project_page)
  version=$(project_version)
  SOURCE_DATE_EPOCH=$(git -C "$root" log -1 --format=%ct)
  export SOURCE_DATE_EPOCH
  wasm >&2
  rm -rf "$out"
  mkdir -p "$out"
  amalgamate "$out/ladon.hpp"
  git -C "$root" archive --format=tar --prefix="ladon-$version/" HEAD | gzip -n -9 >"$out/ladon-$version.tar.gz"
  release_npm "$out" "$url"
  release_arduino "$out" "$url"
  release_programs "$out"
  python3 -B "$root/tools/release/sbom.py" "$root" "$out" "$url" "$builds/release-headers"
  (cd "$out" && LC_ALL=C sha256sum -- * >"$builds/SHA256SUMS" && mv "$builds/SHA256SUMS" .)
  say "wrote $out:"
  ls -l "$out" >&2
}

project_version() {
  sed -nE 's/^#define LADON_VERSION_(MAJOR|MINOR|PATCH) ([0-9]+)$/\2/p' "$root/include/ladon/version.hpp" | paste -sd.
}

# Prints the project's page for the metadata of the packages: LADON_URL, or the address from which this checkout was
# cloned.
project_page() {
  local url=${LADON_URL:-}
  if [ -z "$url" ]; then
    url=$(git -C "$root" remote get-url origin 2>/dev/null | sed -E 's#://[^/@]*@#://#; s#\.git$##' || true)
  fi
  [[ $url =~ ^https?:// ]] || die "this checkout was not cloned from an http address: LADON_URL=<the project's page>"
  printf '%s\n' "$url"
}

# release_npm FOLDER URL: makes the npm tarball. Sets repository, homepage and bugs in the package.json of the tarball.
# wasm/package.json lacks these entries, because the project has no public address yet.
release_npm() {
  local stage=$builds/release-npm
  rm -rf "$stage"
  mkdir -p "$stage"
  cp -R "$root/wasm/package.json" "$root/wasm/README.md" "$root/wasm/LICENSE" "$root/wasm/dist" "$stage"
  chmod -R u=rwX,go=rX "$stage" # npm pack keeps file modes, which depend on the umask
  (cd "$stage" && npm pkg set repository.type=git "repository.url=git+$2.git" "homepage=$2#readme" "bugs.url=$2/issues" &&
    npm pack --silent --pack-destination "$1") >&2
}

# release_arduino FOLDER URL: makes the zip file of the Arduino library.
release_arduino() {
  local stage=$builds/release-arduino
  rm -rf "$stage"
  cmake -DOUTPUT="$stage" -DLADON_URL="$2" -P "$root/cmake/arduino.cmake" >&2
  python3 -B "$root/tools/release/zip.py" "$stage" Ladon "$1/Ladon-$(project_version).zip"
}

# The systems for which a release has programs, each with the target of zig.
release_systems='linux-x86_64 x86_64-linux-musl
linux-aarch64 aarch64-linux-musl
windows-x86_64 x86_64-windows-gnu
macos-arm64 aarch64-macos.12.0
macos-x86_64 x86_64-macos.12.0'

# release_programs FOLDER: compiles ladon-weights and ladon-import for each system, or only for those that
# LADON_RELEASE_SYSTEMS names. The programs need no libraries but those of the system.
release_programs() {
  local system target dir stage name
  need_zig
  while read -r system target; do
    if [[ " ${LADON_RELEASE_SYSTEMS:-$system} " != *" $system "* ]]; then continue; fi
    say "compiling the programs for $system"
    dir=$builds/release-programs-$system
    stage=$builds/release-programs
    name=ladon-programs-$(project_version)-$system
    configure "$dir" -G Ninja -DCMAKE_BUILD_TYPE=Release "-DCMAKE_TOOLCHAIN_FILE=$root/cmake/zig.cmake" \
      "-DLADON_ZIG_TARGET=$target" "-DCMAKE_CXX_FLAGS=-ffile-prefix-map=$root=." "-DCMAKE_EXE_LINKER_FLAGS_RELEASE=-s" \
      -DCMAKE_UNITY_BUILD=ON -DLADON_BUILD_TESTS=OFF -DLADON_BUILD_BENCH=OFF -DLADON_EXAMPLES=
    build "$dir" ladon_weights
    build "$dir" ladon_import
    ln -sfn "$dir/ladon_headers" "$builds/release-headers"
    rm -rf "$stage"
    mkdir -p "$stage/$name"
    cp "$root/LICENSE" "$root/tools/release/THIRD_PARTY.txt" "$dir"/src/weights/ladon-weights* "$dir"/src/import/ladon-import* \
      "$stage/$name"
    python3 -B "$root/tools/release/zip.py" "$stage" "$name" "$1/$name.zip"
  done <<<"$release_systems"
}
