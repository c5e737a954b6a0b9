# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Implements ./dev wasm and ./dev page: the WebAssembly modules, the npm package and the demo page.
: "${root:?}" "${builds:?}"

wasm() {
  local dist=$root/wasm/dist
  if [ ! -w "$root/wasm" ]; then dist=$builds/wasm-dist; fi
  wasm_modules "$dist/modules"
  if [ -w "$root/wasm" ]; then package; else say "the binding is not built: $root/wasm cannot be written"; fi
}

# wasm_modules FOLDER: compiles the modules of the npm package into FOLDER, and prints their sizes.
wasm_modules() {
  local module
  make_modules "$1" ladon_modules
  printf '%-28s%8s%9s\n' module bytes gzipped
  for module in "$1"/*.wasm; do
    printf '%-28s%8d%9d\n' "$(basename "$module" .wasm)" "$(wc -c <"$module")" "$(gzip -9 <"$module" | wc -c)"
  done
}

# make_modules FOLDER TARGET: compiles the modules of a target of wasm/CMakeLists.txt into FOLDER.
make_modules() {
  need_emscripten
  cmake -S "$root/wasm" -B "$builds/wasm" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$(emscripten_toolchain)" \
    -DLADON_KISSFFT_DIR="$(kissfft_folder)" -DLADON_WASM_OUTPUT="$1" >&2
  build "$builds/wasm" "$2"
}

# Builds the binding of the npm package into wasm/dist. npm installs the necessary packages once.
package() {
  local last=$root/wasm/dist/LICENSE-tokenizers.txt # the file that build.mjs writes last
  npm_packages "$root/wasm"
  if is_newer "$last" "$root"/{wasm,src/weights,src/c_kernel,examples/date_reader/weights.safetensors}; then return; fi
  (cd "$root/wasm" && npm run --silent build)
}

# is_newer FILE PATH...: whether FILE exists and is newer than every file below the PATHs. Leaves out the folders of
# wasm that hold no sources.
is_newer() {
  [ -e "$1" ] && [ -z "$(find "${@:2}" \( -name node_modules -o -path '*/wasm/dist' -o -path '*/wasm/tests' \) -prune -o \
    -newer "$1" -print -quit)" ]
}

# npm_packages FOLDER [OPTION...]: installs the packages of FOLDER's lock file if they are missing or older than the
# lock file. The options go to npm ci.
npm_packages() {
  need node npm
  if [ -e "$1/node_modules/.package-lock.json" ] && [ ! "$1/package-lock.json" -nt "$1/node_modules/.package-lock.json" ]; then
    return
  fi
  say "npm ci for ${1#"$root/"}"
  (cd "$1" && npm ci --ignore-scripts --no-audit --no-fund "${@:2}") >&2
}

# Imports the model stories260K for the tab "Stories" of the page, if the files of the model are there: in the folder
# that LADON_STORIES_DIR names, or in shared/models beside the repository.
import_stories() {
  local files=${LADON_STORIES_DIR:-$root/../shared/models/stories260K} out=$root/wasm/dist/stories
  if [ ! -e "$files/stories260K.bin" ] || [ ! -e "$files/tok512.bin" ]; then
    say "the page has no tab of stories, because $files lacks stories260K.bin or tok512.bin (LADON_STORIES_DIR)"
    rm -rf "$out"
    return
  fi
  if is_newer "$out/ladon-files.json" "$files" "$root"/{include,src,cmake,wasm/model,wasm/src,wasm/tools}; then return; fi
  node "$root/wasm/tools/stories-folder.mjs" "$files" "$builds/stories260K"
  import_model "$builds/stories260K" --wasm "$out" --name stories260k
}

page() {
  wasm >&2
  import_stories >&2
  (cd "$root/wasm" && npm run --silent build:demo) >&2
  exec node "$root/wasm/tools/serve.mjs" "$root/wasm/dist/demo" "${1:-8080}"
}

emscripten_toolchain() { echo "$(em-config EMSCRIPTEN_ROOT)/cmake/Modules/Platform/Emscripten.cmake"; }

need_emscripten() {
  need cmake ninja em++ node xsimd/xsimd.hpp
  choose_em_python
  need_relaxed
}

# Tells em++ which Python runs it. The command python3 can be a script that selects a version, such as pyenv's. This
# script takes as long as em++ itself.
choose_em_python() {
  EMSDK_PYTHON=${EMSDK_PYTHON:-$(python3 -c 'import sys; print(sys.executable)')}
  export EMSDK_PYTHON
}

# Relaxed SIMD needs LLVM 17. If the LLVM of em++ is too old, installs a newer LLVM. For example, em++ 3.1.6 has LLVM
# 14. If no compiler has LLVM 17, CMake reports the omitted modules.
need_relaxed() {
  printf '%s\n' '#include <wasm_simd128.h>' 'v128_t f(v128_t a) { return wasm_f32x4_relaxed_madd(a, a, a); }' |
    em++ -msimd128 -mrelaxed-simd -xc++ -fsyntax-only - 2>/dev/null && return
  if ! { has clang++-19 && has wasm-ld-19; }; then install clang-19 lld-19 || true; fi
}
