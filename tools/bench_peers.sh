# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Implements ./dev bench peers, minilm, keywords and start: compares Ladon with other libraries, which pip installs.
: "${root:?}" "${builds:?}" "${compiler:?}"

bench_peers() {
  local argument arguments=() programs=(ladon_peer) dir=$builds/bench-peers onednn=OFF
  local files=("$root/bench/ladon_bench/peers/requirements.txt")
  for argument; do
    if [ "$argument" = --with-torch ]; then files+=("$(torch_requirements)"); continue; fi
    if [ "$argument" = --scaling ]; then programs=(ladon_peer_scaling); fi
    arguments+=("$argument")
  done
  need_bench
  need python3 pip
  if has oneapi/dnnl/dnnl.hpp || install oneapi/dnnl/dnnl.hpp; then onednn=ON; fi
  configure_bench "$dir" -DLADON_BENCH_ONEDNN=$onednn
  for argument in "${programs[@]}" onednn_peer; do build "$dir" "$argument"; done
  peer_packages "${files[@]}"
  run_module "$builds/peers-venv/bin/python" peers --programs "$dir/bench/peers" ${arguments[@]+"${arguments[@]}"}
}

bench_minilm() {
  local argument arguments=() dir=$builds/bench-minilm
  local files=("$root/bench/ladon_bench/minilm/requirements.txt")
  for argument; do
    if [ "$argument" = --with-torch ]; then files+=("$(torch_requirements)"); continue; fi
    arguments+=("$argument")
  done
  need_bench
  need utf8proc.h python3 pip
  configure "$dir" -DLADON_EXAMPLES=minilm -DLADON_BUILD_TESTS=OFF -DLADON_BUILD_WEIGHTS_TOOL=OFF \
    -DLADON_WERROR="${CI:+ON}"
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

bench_start() {
  local dir=$builds/bench-start
  need c++ cmake ninja xsimd/xsimd.hpp python3 pip
  CXX=$compiler cmake -S "$root/bench/start" -B "$dir" -G Ninja >&2
  build "$dir" all
  peer_packages "$root/bench/ladon_bench/peers/requirements.txt"
  run_module "$builds/peers-venv/bin/python" start --programs "$dir" "$@"
}

torch_requirements() { printf '%s\n' "$root/bench/ladon_bench/peers/requirements-torch.txt"; }

# peer_packages FILE...: installs the packages of the peers. numpy is required, because numpy checks all results.
peer_packages() {
  python_packages "$builds/peers-venv" "$@"
  "$builds/peers-venv/bin/python" -c 'import numpy' 2>/dev/null || die "numpy is missing: it checks every result"
}
