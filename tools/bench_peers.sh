# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Implements the subcommands `peers`, `minilm`, `keywords`, `llama` and `start` of `./dev bench`, which compare Ladon with
# other libraries. pip installs these libraries.
: "${root:?}" "${builds:?}" "${compiler:?}"

bench_peers() {
  local arguments=() files=("$root/bench/ladon_bench/peers/requirements.txt") dir=$builds/bench-peers
  local program=ladon_peer programs shapes='' precision=float32 onednn=OFF
  while [ $# -gt 0 ]; do
    case $1 in
      --with-torch)
        files+=("$(torch_requirements)")
        shift
        continue
        ;;
      --scaling) program=ladon_peer_scaling ;;
      --shapes) shapes=$(listed_after "$@") ;;
      --precision) precision=${2:-} ;;
    esac
    arguments+=("$1")
    shift
  done
  need_bench
  need python3 pip
  if [ "$precision" = int8 ]; then
    programs=(ladon_peer ladon_peer_int8)
    files=("$root/bench/ladon_bench/peers/requirements-int8.txt")
  else
    programs=("$program" onednn_peer)
    if has oneapi/dnnl/dnnl.hpp || install oneapi/dnnl/dnnl.hpp; then onednn=ON; fi
  fi
  configure_bench "$dir" -DLADON_BENCH_ONEDNN=$onednn ${shapes:+"-DLADON_BENCH_PEER_SHAPES=$shapes"}
  for program in "${programs[@]}"; do build "$dir" "$program"; done
  peer_packages "${files[@]}"
  run_module "$builds/peers-venv/bin/python" peers --programs "$dir/bench/peers" ${arguments[@]+"${arguments[@]}"}
}

# listed_after OPTION VALUE... [--OPTION ...]: prints the VALUEs as a list of CMake, separated by semicolons. Ignores
# the next option and all following arguments.
listed_after() {
  local values=()
  shift
  while [ $# -gt 0 ] && [[ $1 != --* ]]; do
    values+=("$1")
    shift
  done
  (IFS=';' && printf '%s' "${values[*]}")
}

bench_minilm() {
  local arguments=() bits=8 dir=$builds/bench-minilm
  local files=("$root/bench/ladon_bench/minilm/requirements.txt")
  while [ $# -gt 0 ]; do
    case $1 in
      --with-torch) files+=("$(torch_requirements)") ;;
      --activation-bits)
        bits=${2:-}
        shift ;;
      *) arguments+=("$1") ;;
    esac
    shift
  done
  need_bench
  need cargo python3 pip
  configure "$dir" -DLADON_EXAMPLES=minilm -DLADON_BUILD_TESTS=OFF -DLADON_BUILD_WEIGHTS_TOOL=OFF \
    -DLADON_WERROR="${CI:+ON}" -DLADON_MINILM_ACTIVATION_BITS="$bits"
  build "$dir" ladon_minilm_peer
  fetch_model
  peer_packages "${files[@]}"
  run_module "$builds/peers-venv/bin/python" minilm --programs "$dir/bench/minilm" --model "$(minilm_folder)" \
    ${arguments[@]+"${arguments[@]}"}
}

bench_keywords() {
  local dir=$builds/bench-keywords
  need_bench
  need sndfile.h samplerate.h python3 pip
  configure "$dir" -DLADON_EXAMPLES=keywords -DLADON_BUILD_TESTS=OFF -DLADON_BUILD_WEIGHTS_TOOL=OFF \
    -DLADON_WERROR="${CI:+ON}" -DLADON_KISSFFT_DIR="$(kissfft_folder)"
  build "$dir" ladon_keywords_peer
  "$root/examples/keywords/fetch_model" --all >&2
  peer_packages "$root/bench/ladon_bench/keywords/requirements.txt"
  run_module "$builds/peers-venv/bin/python" keywords --programs "$dir/bench/keywords" "$@"
}

bench_llama() {
  local dir=$builds/bench-llama venv=$builds/llama-venv list=$root/bench/ladon_bench/llama/requirements.txt
  need_bench
  need python3 pip
  configure_bench "$dir" -DLADON_BENCH_LLAMA=ON
  build "$dir" ladon_llama_peer
  python_packages "$venv" <(package_lines "$list" | grep -v ^llama-cpp-python)
  compile_package "$venv" "$(package_lines "$list" | grep ^llama-cpp-python)"
  run_module "$venv/bin/python" llama --programs "$dir/bench/llama" --model "$builds/bench-llama-model" "$@"
}

bench_start() {
  local dir=$builds/bench-start
  need c++ cmake ninja xsimd/xsimd.hpp python3 pip
  CXX=$compiler cmake -S "$root/bench/start" -B "$dir" -G Ninja >&2
  build "$dir" all
  peer_packages "$root/bench/ladon_bench/peers/requirements.txt"
  run_module "$builds/peers-venv/bin/python" start --programs "$dir" "$@"
}

torch_requirements() { printf '%s\n' "$root/bench/ladon_bench/peers/requirements-torch.txt"; }

# peer_packages FILE...: installs the Python packages of the libraries with which Ladon is compared, from the lists
# FILE. Fails without numpy, because numpy checks all results.
peer_packages() {
  python_packages "$builds/peers-venv" "$@"
  "$builds/peers-venv/bin/python" -c 'import numpy' 2>/dev/null || die "numpy is missing: it checks every result"
}
