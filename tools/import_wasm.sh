# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Implements ./dev import --wasm: writes the WebAssembly modules of a model, its weights, a typed wrapper and a page.
: "${root:?}" "${builds:?}"

# import_wasm TOOL FOLDER DIR PRECISION ARGS...: ARGS are the arguments of ladon-import. All models share two build
# folders, because the code that reads checkpoints takes longer to compile than a model. Tests set the variables
# `variants` and `optimise` to make fewer modules, with another level of optimisation.
import_wasm() {
  local tool=$1 folder out=$3 precision=$4 work name settings
  folder=$(cd "$2" && pwd)
  need_emscripten
  npm_packages "$root/wasm"
  node "$root/wasm/tools/model-folder.mjs" --check "$out"
  work=$builds/import-wasm/models/$(basename "$folder")
  rm -rf "$work"
  "$tool" "${@:5}" --c-sources "$work"
  name=$(basename "$work"/*_module.cmake _module.cmake)
  settings=(-DNAME="$name" -DSOURCES="$work" -DCHECKPOINT="$(weights_of "$folder" "$work")" -DPRECISION="$precision")
  cmake -S "$root/wasm/model" -B "$builds/import-wasm/native" -G Ninja "${settings[@]}" >&2
  build "$builds/import-wasm/native" "${name}_weights_file"
  cmake -S "$root/wasm/model" -B "$builds/import-wasm/wasm" -G Ninja "${settings[@]}" \
    -DCMAKE_TOOLCHAIN_FILE="$(emscripten_toolchain)" -DLADON_WASM_OUTPUT="$work/modules" \
    -DLADON_WASM_VARIANTS="${variants:-}" -DOPTIMIZE="${optimise:-}" >&2
  build "$builds/import-wasm/wasm" "${name}_modules"
  node "$root/wasm/tools/model-folder.mjs" "$name" "$folder" "$work/modules" "$builds/import-wasm/native/$name.weights" "$out"
  say "$out: a server of static files shows the page, such as: node wasm/tools/serve.mjs $out"
}

# check_wasm TOOL DIR IO PRECISION: runs the model in DIR on recorded inputs, in Node, and compares the results.
check_wasm() {
  local tool=$1 out=$2 io=$3 precision=$4 wrappers
  wrappers=("$out"/*.d.ts)
  node "$root/wasm/tools/check-model.mjs" "${wrappers[0]%.d.ts}.js" "$io" "$builds/import-wasm/last.safetensors"
  "$tool" --compare "$io" "$builds/import-wasm/last.safetensors" --precision "$precision"
}
