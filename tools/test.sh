# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Implements ./dev test: tests the presets of CMakePresets.json, modules, firmware, the package, integrations and
# recipes.
: "${root:?}" "${builds:?}" "${compiler:?}" "${cores:?}"

presets=(native clang debug sse2 avx2 avx512 avx512-vnni avx512-bf16 avx-vnni array-1 array-4 array-16 aarch64
         aarch64-neon-dot aarch64-neon-i8mm aarch64-neon-bf16 windows armv7 riscv64 s390x wasm-scalar wasm-simd
         wasm-relaxed cortex-m0plus cortex-m4 cortex-m7 cortex-m55)

run_tests() {
  local chosen=(native) native_set=usual other_set=usual set='' xsimd='' options=() preset recipes=''
  while [ $# -gt 0 ]; do
    case $1 in
      --all) chosen=("${presets[@]}"); native_set=slow other_set=wide recipes=yes ;;
      --platform) shift; test_platform "$@"; return ;;
      --preset) chosen=("${2:?--preset takes a name}"); shift ;;
      --modules) test_modules; return ;;
      --firmware) shift; test_firmware "$@"; return ;;
      --set) set=${2:?--set takes quick, usual, wide or slow}; shift ;;
      --package) test_package; return ;;
      --browsers) shift; test_browsers "$@"; return ;;
      --integrations) test_integrations; return ;;
      --recipes) test_recipes; return ;;
      --release) test_release; return ;;
      --xsimd) xsimd=$(cd "${2:?--xsimd takes a folder}" && pwd); shift ;;
      *) options+=("$1") ;;
    esac
    shift
  done
  need_examples doctest/doctest.h pkg-config cargo
  # Installs valgrind on machines for continuous integration. On other machines, the tests that count instructions run
  # only if valgrind is already installed.
  if [ -n "${CI:-}" ]; then need valgrind; fi
  for preset in "${chosen[@]}"; do
    if ! runs_here "$preset"; then say "$preset: skipped, this machine cannot run it"; continue; fi
    # With --all, only the native preset runs the test set `slow`, which tests exp, erf and tanh of every float. One
    # preset is enough, because the results of these functions have equal bits with all instruction sets.
    if [ "$preset" = native ]; then test_preset native "${set:-$native_set}" ${options[@]+"${options[@]}"}
    elif [[ $preset = cortex-* ]]; then test_preset "$preset" "${set:-quick}" ${options[@]+"${options[@]}"}
    else test_preset "$preset" "${set:-$other_set}" ${options[@]+"${options[@]}"}; fi
  done
  if [ -n "$recipes" ]; then test_recipes; fi
}

test_preset() {
  local preset=$1 name=$1${xsimd:+-${xsimd##*/}} args=(-DLADON_TEST_SET="$2" -DLADON_WERROR="${CI:+ON}")
  # A unity build compiles several source files as one, so headers are read once for up to eight files. The tools, the
  # examples and the shared parts of tests compile faster in this way.
  args+=(-DCMAKE_UNITY_BUILD=ON)
  # The quick set has only the tests of the library. The fuzzers run the readers of files with sanitizers.
  if [ "$2" = quick ]; then args+=(-DLADON_EXAMPLES= -DLADON_BUILD_WEIGHTS_TOOL=OFF); fi
  if [ "$2" != usual ]; then name+=-$2; fi
  shift 2
  [[ " ${presets[*]} " = *" $preset "* ]] || die "no preset is called '$preset'; there are ${presets[*]}"
  case $preset in native | clang | debug) args+=(-DLADON_KISSFFT_DIR="$(kissfft_folder)") ;; esac
  case $preset in
    clang) need clang++; args+=(-DCMAKE_CXX_COMPILER="$(clang)") ;;
    # With sanitizers, clang++ compiles in a third of the time of g++.
    debug) need clang++; need libclang-rt; args+=(-DCMAKE_CXX_COMPILER="$(clang)") ;;
    aarch64* | armv7 | riscv64 | s390x | windows)
      case $preset in
        aarch64*) need aarch64-linux-gnu-g++ qemu-aarch64 ;;
        *) need_platform "$preset" ;;
      esac ;;
    cortex-*) need arm-none-eabi-g++ qemu-system-arm ;;
    wasm-*)
      need em++ node
      choose_em_python
      if [ -z "${LADON_CHROMIUM:-}" ]; then need chromium; fi
      if [ "$preset" = wasm-relaxed ]; then need_relaxed; fi ;;
  esac
  if [ -n "$xsimd" ]; then args+=(-DFETCHCONTENT_SOURCE_DIR_XSIMD="$xsimd"); fi
  say "testing $name"
  configure "$builds/$name" --preset "$preset" "${args[@]}"
  build "$builds/$name" all
  ctest_in "$builds/$name" "$@"
  # Runs the test programs a second time, in a browser. Leaves out tests that run no WebAssembly program. For the quick
  # set, Node suffices: ./dev test --package and --browsers run modules in browsers.
  case $name in
    wasm-*-quick) ;;
    wasm-*)
      say "testing $name in Chromium"
      LADON_WASM_HOST=chromium ctest_in "$builds/$name" -E '^ladon[.](compile_fail|kernel_|readme$|symbols)' "$@" ;;
  esac
}

runs_here() {
  case $1 in
    sse2) [ "$(uname -m)" = x86_64 ] ;;
    avx2) grep -qsw avx2 /proc/cpuinfo ;;
    avx512) grep -qsw avx512dq /proc/cpuinfo ;;
    avx512-vnni) grep -qsw avx512_vnni /proc/cpuinfo ;;
    avx512-bf16) grep -qsw avx512_vnni /proc/cpuinfo && grep -qsw avx512_bf16 /proc/cpuinfo ;;
    avx-vnni) grep -qsw avx_vnni /proc/cpuinfo ;;
    aarch64* | armv7 | riscv64 | s390x | windows) [ "$(uname -sm)" = 'Linux x86_64' ] ;;
  esac
}

test_modules() {
  need_emscripten
  cmake -S "$root/tests/wasm/modules" -B "$builds/modules" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$(emscripten_toolchain)" >&2
  build "$builds/modules" all
  ctest_in "$builds/modules"
}

# test_firmware [--update] [CORE...]: runs the tests of tests/firmware for all cores, or only for CORE...
test_firmware() {
  local core update='' chosen=() here=$root/tests/firmware keywords settings=() import weights
  for core in "$@"; do
    if [ "$core" = --update ]; then update=yes; else chosen+=("$core"); fi
  done
  if [ ${#chosen[@]} = 0 ]; then chosen=("${cores[@]}"); fi
  need c++ cmake make ninja xsimd/xsimd.hpp nlohmann/json.hpp CLI/CLI.hpp
  keywords=$(keywords_folder kwt1.safetensors yes_1000ms.wav)
  if [ -n "$keywords" ]; then settings=(-DLADON_KISSFFT_DIR="$(kissfft_folder)"); fi
  # All builds below share the tools of ./dev import, which take longer to compile than the tests.
  import=$(import_tool)
  weights=$(weights_tool)
  settings+=(-DLADON_KEYWORDS_DIR="$keywords" -DLADON_FIRMWARE_HOST="$builds/firmware-host" -DLADON_WEIGHTS_TOOL="$weights")
  # Builds the programs of tests/firmware for the host, where they compute the expected results. -O1 is enough, because
  # the speed of these programs does not matter.
  cmake -S "$here" -B "$builds/firmware-host" -G Ninja -DLADON_WERROR="${CI:+ON}" -DLADON_IMPORT_TOOL="$import" \
    -DCMAKE_CXX_FLAGS_RELEASE="-O1 -DNDEBUG" >&2
  build "$builds/firmware-host" all
  for core in "${chosen[@]}"; do
    configure_firmware "$here" "$builds/firmware-$core" "$core" "${settings[@]}"
    say "testing $core"
    build "$builds/firmware-$core" all
    if [ -n "$update" ]; then build "$builds/firmware-$core" update_counts; fi
    ctest_in "$builds/firmware-$core"
  done
}

# Imports the models with which the tests of the package run. GPT-2 becomes all the modules that a user gets. The
# pages of T5, Whisper and the classifier load the variant relaxed, and Node 18 the variants simd and scalar.
import_test_models() {
  local here=$root/wasm/tests/models/imported families=$root/../shared/families
  node "$root/wasm/tests/models/make_classifier.mjs" "$here/checkpoint/classifier"
  node "$root/wasm/tests/models/make_classifier.mjs" "$here/checkpoint/tagger" rows
  node "$root/wasm/tests/models/make_pairs.mjs" "$here/checkpoint/pairs"
  node "$root/wasm/tests/models/make_writer.mjs" "$root/tests/data/families/t5" "$here/checkpoint/t5"
  import_model "$root/tests/data/families/gpt2" --wasm "$here/gpt2" --tokens 32 --check
  # The layer 0 keeps 8 bits.
  import_model "$root/tests/data/families/gpt2" --wasm "$here/gpt2_int4" --name gpt2_int4 --tokens 32 --precision int4 --keep "layers[.]0"
  variants='relaxed;simd' import_model "$here/checkpoint/t5" --wasm "$here/t5" --tokens 80
  if [ -e "$families/whisper/config.json" ]; then
    node "$root/wasm/tests/models/make_writer.mjs" "$families/whisper" "$here/checkpoint/whisper"
    variants='relaxed;scalar' import_model "$here/checkpoint/whisper" --wasm "$here/whisper" --tokens 32
  fi
  # These models compute little, so that optimisation would take longer than it saves.
  variants='relaxed;simd' optimise=0 import_model "$here/checkpoint/classifier" --wasm "$here/classifier"
  variants=simd optimise=0 import_model "$here/checkpoint/tagger" --wasm "$here/tagger"
  variants='relaxed;simd' optimise=0 import_model "$here/checkpoint/pairs" --wasm "$here/pairs"
  variants='relaxed;simd' optimise=0 import_model "$root/tests/import/clip" --wasm "$here/clip" --check
}

test_package() {
  local at_once=() weights
  need node npm
  if [ -z "${LADON_CHROMIUM:-}" ]; then need chromium; fi
  wasm
  npm_packages "$root/wasm/tests/consumers/runtimes"
  if [ "$(uname -sm)" = 'Linux x86_64' ]; then
    need qemu-aarch64 aarch64-linux-gnu-g++ # the package of g++ has the C++ library, which Node needs
    npm_packages "$root/wasm/tests/arm64_engine" --force
  fi
  cmake -S "$root/wasm/tests/kernels" -B "$builds/wasm-tests" -G Ninja \
    -DCMAKE_TOOLCHAIN_FILE="$(emscripten_toolchain)" -DLADON_WASM_OUTPUT="$root/wasm/tests/kernels/modules" >&2
  build "$builds/wasm-tests" test_modules
  import_test_models
  import_stories
  (cd "$root/wasm" && npm run --silent build:demo) >&2
  # Runs as many test files at a time as the machine has cores. By default, Node runs one file fewer. Node 18 has no
  # option --test-concurrency, so it runs one file fewer.
  if node --test-concurrency=1 -e '' 2>/dev/null; then at_once=(--test-concurrency="$(getconf _NPROCESSORS_ONLN)"); fi
  need python3 pip
  python_packages "$builds/hosts-venv" "$root/wasm/tests/hosts/requirements.txt"
  # .ci/check_skipped reads node_tests.tap.
  weights=$(weights_tool)
  (cd "$root/wasm" && LADON_WEIGHTS_TOOL=$weights LADON_HOSTS_PYTHON=$builds/hosts-venv/bin/python node --test ${at_once[@]+"${at_once[@]}"} --test-reporter=spec --test-reporter-destination=stdout \
    --test-reporter=tap --test-reporter-destination="$builds/node_tests.tap" tests/test_*.mjs tests/page/test_*.mjs)
}

# need_browsers BROWSER...: installs browsers that are missing.
need_browsers() {
  local one
  for one in "$@"; do
    case $one in
      chromium) if [ -z "${LADON_CHROMIUM:-}" ]; then need chromium; fi ;;
      firefox) if [ -z "${LADON_FIREFOX:-}" ]; then need firefox; fi ;;
      webkit) need WebKitWebDriver Xvfb ;;
    esac
  done
}

# test_browsers [quick] [BROWSER...]: tests the package and the page in chromium, firefox and webkit (WebKitGTK), or only
# in BROWSER... With `quick`, the page's benchmark measures only one shape.
test_browsers() {
  local one quick='' chosen=()
  for one in "$@"; do
    case $one in
      quick) quick=yes ;;
      chromium | firefox | webkit) chosen+=("$one") ;;
      *) die "--browsers takes quick, chromium, firefox and webkit, and not '$one'" ;;
    esac
  done
  if [ ${#chosen[@]} = 0 ]; then chosen=(chromium firefox webkit); fi
  need node npm
  need_browsers "${chosen[@]}"
  wasm
  import_stories
  (cd "$root/wasm" && npm run --silent build:demo) >&2
  (cd "$root/wasm" && LADON_BROWSERS=$(IFS=,; echo "${chosen[*]}") LADON_BROWSERS_QUICK=$quick \
    node --test --test-reporter=spec tests/browsers/run.mjs)
}

# Tests the integrations. Installs all tools that pip and apt have, so that no test is skipped.
test_integrations() {
  local venv=$builds/integrations tool
  need c++ cmake ninja python3 pip arm-none-eabi-g++ arduino-builder arduino-ctags
  python_packages "$venv" "$root/tests/integrations/requirements.txt"
  for tool in platformio arduino zephyr esp_idf; do
    say "integration: $tool"
    CXX=$compiler CMAKE_GENERATOR=Ninja LADON_INTEGRATION_TOOLS=all \
      "$venv/bin/python" -B "$root/tests/integrations/test_$tool.py"
  done
}

# Tests the recipes of docs/pytorch.md with the real exporters, whose packages take several GB. ./dev test runs the
# recipes with stored files.
test_recipes() {
  local venv=$builds/recipes-venv files=$builds/recipes-files
  need c++ cmake ninja xsimd/xsimd.hpp doctest/doctest.h nlohmann/json.hpp CLI/CLI.hpp protozero/pbf_reader.hpp python3 pip
  python_packages "$venv" "$root/tests/recipes/requirements.txt"
  if ! KERAS_BACKEND=torch "$venv/bin/python" -c 'import keras, onnx, onnxscript, safetensors, torch, transformers' 2>/dev/null; then
    say "recipes: skipped, pip cannot install all packages of tests/recipes/requirements.txt"
    return
  fi
  rm -rf "$files"
  HF_HUB_OFFLINE=1 "$venv/bin/python" -B "$root/tests/recipes/export.py" "$files"
  "$venv/bin/python" -B "$root/tests/recipes/export_modules.py" "$files/export"
  test_check_with_original "$venv/bin/python"
  configure "$builds/recipes" --preset native -DLADON_EXAMPLES= -DLADON_RECIPE_FILES="$files" -DLADON_WERROR="${CI:+ON}"
  build "$builds/recipes" ladon_recipes
  ctest_in "$builds/recipes" -R '^ladon[.]recipes'
}

# test_check_with_original PYTHON: lets ./dev import --check compare a model with the original.
test_check_with_original() {
  local model=$builds/recipes-files/original
  mkdir -p "$model"
  cp "$root"/tests/data/families/gpt2/{config.json,model.safetensors} "$model"
  LADON_PYTHON=$1 import_model "$model" --cpp "$builds/recipes-files/original_cpp" --check
}

# Tests the files of a release. Compiles the WebAssembly modules of the package if the modules do not exist.
test_release() {
  local venv=$builds/release-venv test
  need c++ cmake ninja git node npm python3 pip xsimd/xsimd.hpp file unzip
  wasm >&2
  python_packages "$venv" "$root/tests/release/requirements.txt"
  for test in release conan; do
    # PYTHONPATH contains the folder of the integrations, because the tests import its common.py.
    CXX=$compiler LADON_RELEASE_TOOLS=all PYTHONPATH=$root/tests/integrations \
      "$venv/bin/python" -B "$root/tests/release/test_$test.py"
  done
}
