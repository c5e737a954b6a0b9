# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Implements `./dev bench browser`, which compares Ladon's WebAssembly modules, MiniLM and KWT-1 with npm packages of
# other projects.
: "${root:?}" "${builds:?}"

bench_browser() {
  local here=$root/bench/browser dir=$builds/bench-browser
  if [[ " $* " = *" --engines "* ]]; then bench_browser_engines "$@"; fi
  if [[ " $* " = *" --minilm "* ]]; then bench_browser_minilm "$@"; fi
  if [[ " $* " = *" --keywords "* ]]; then bench_browser_keywords "$@"; fi
  need cmake ninja em++ node xsimd/xsimd.hpp
  if [ -z "${LADON_CHROMIUM:-}" ] && [[ " $* " != *" --no-chromium "* ]]; then need chromium; fi
  need_relaxed
  cmake -S "$here" -B "$dir" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$(emscripten_toolchain)" >&2
  build "$dir" bench_modules
  if [[ " $* " = *" --precision int8 "* ]]; then
    build "$dir" bench_int8_modules
    (package) >&2 || say 'npm cannot build the package: relaxed modules have activations of 7 bits'
  fi
  bench_packages "$here" "$dir" || say 'npm cannot install the peers: missing peers are left out'
  exec node "$here/bench.mjs" --build "$dir" "$@"
}

# Measures several browsers in alternation. Never returns to bench_browser, like bench_browser_minilm.
bench_browser_engines() {
  need node npm
  need_browsers chromium firefox webkit
  wasm >&2
  exec node "$root/bench/browser/engines/bench.mjs" "$@"
}

# Measures MiniLM. Never returns to bench_browser, because the last command of the function is exec, which replaces the
# shell.
bench_browser_minilm() {
  local here=$root/bench/browser dir=$builds/bench-browser model
  if [ -z "${LADON_CHROMIUM:-}" ] && [[ " $* " != *" --no-chromium "* ]]; then need chromium; fi
  fetch_model
  model=$(minilm_folder)
  make_modules "$root/wasm/dist/modules" minilm_modules
  if [[ " $* " = *" --precision int8 "* ]]; then make_modules "$root/wasm/dist/modules" minilm_int8_modules; fi
  (package) >&2 || say 'npm cannot build the package: the existing files in wasm/dist are measured'
  mkdir -p "$dir"
  bench_packages "$here" "$dir" || say 'npm cannot install transformers.js: missing packages are left out'
  minilm_as_onnx "$model" "$dir/minilm" || say 'the model cannot be converted to ONNX: transformers.js is left out'
  exec node "$here/minilm/bench.mjs" --build "$dir" --model "$model" "$@"
}

# Measures KWT-1. Never returns to bench_browser, like bench_browser_minilm.
bench_browser_keywords() {
  local here=$root/bench/browser dir=$builds/bench-browser model target
  if [ -z "${LADON_CHROMIUM:-}" ] && [[ " $* " != *" --no-chromium "* ]]; then need chromium; fi
  need python3 pip
  "$root/examples/keywords/fetch_model" --all >&2
  model=$dir/kwt1
  mkdir -p "$model" "$dir/keywords"
  keywords_files "$model"
  for target in keywords_modules keywords_int8_modules keywords_front_end_simd keywords_front_end_scalar; do
    make_modules "$root/wasm/dist/modules" "$target"
  done
  (package) >&2 || say 'npm cannot build the package: the existing files in wasm/dist are measured'
  bench_packages "$here" "$dir" || say 'npm cannot install LiteRT.js: LiteRT.js is left out'
  keywords_as_tflite "$model/non_stream.tflite" "$dir/keywords" ||
    say 'the published file cannot be converted: only its own form is measured in LiteRT.js'
  exec node "$here/keywords/bench.mjs" --build "$dir" --model "$model" "$@"
}

# keywords_files FOLDER: copies the files of KWT-1 into FOLDER. examples/keywords/fetch_model finds each file.
keywords_files() {
  local name
  for name in kwt1.safetensors non_stream.tflite {yes,no,noise,silence}_1000ms.wav; do
    cp -fp "$("$root/examples/keywords/fetch_model" --find "$name")" "$1/$name"
    chmod u+w "$1/$name"
  done
}

# keywords_as_tflite FILE TO: converts the model FILE into the TFLite files that LiteRT.js runs, in the folder TO. Does
# nothing if the TFLite files are newer than FILE and the converter.
keywords_as_tflite() {
  # `last` is the file that the converter writes last. If it exists, all TFLite files are complete.
  local last=$2/model.int8.tflite here=$root/bench/ladon_bench/keywords
  if [ "$last" -nt "$here/tflite_files.py" ] && [ "$last" -nt "$1" ]; then return; fi
  rm -f "$last"
  cp -f "$1" "$2/chain.float32.tflite"
  (python_packages "$builds/keywords-venv" "$here/requirements.txt") || return
  (run_module "$builds/keywords-venv/bin/python" keywords.tflite_files "$1" "$2" >&2)
}

# minilm_as_onnx MODEL TO: converts the model in the folder MODEL to ONNX files in the folder TO, if the ONNX files are
# missing, or older than the model or the converter.
minilm_as_onnx() {
  # `last` is the file that the converter writes last. If it exists, all ONNX files are complete.
  local last=$2/tokenizer_config.json here=$root/bench/ladon_bench/minilm
  if [ "$last" -nt "$here/to_onnx.py" ] && [ "$last" -nt "$1/model.safetensors" ]; then return; fi
  rm -f "$last"
  (need python3 pip && python_packages "$builds/minilm-venv" "$here/requirements-to-onnx.txt") || return
  (run_module "$builds/minilm-venv/bin/python" minilm.to_onnx "$1" "$2" >&2)
}

# bench_packages FROM TO: installs the packages of FROM/package-lock.json into TO, if the packages are missing or the
# lock file has changed.
bench_packages() {
  if [ -e "$2/node_modules" ] && cmp -s "$1/package-lock.json" "$2/package-lock.json"; then return; fi
  has npm || install npm || return
  cp "$1/package.json" "$1/.npmrc" "$2"
  (cd "$2" && cp "$1/package-lock.json" . && npm ci --ignore-scripts --no-audit --no-fund >&2) && return
  rm -f "$2/package-lock.json"
  return 1
}
