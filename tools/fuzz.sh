# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Implements ./dev fuzz: runs the fuzzers of fuzz/, each for some seconds.
: "${root:?}" "${builds:?}"

# fuzz [TARGET] [SECONDS]: builds and runs all fuzzers, or only TARGET.
fuzz() {
  local names=() seconds=20 program dir=$builds/fuzz flags='-O1 -g1'
  for program in "$root"/fuzz/fuzz_*.cpp; do program=${program##*/fuzz_}; names+=("${program%.cpp}"); done
  if [ $# -gt 0 ] && [[ ! $1 =~ ^[0-9]+$ ]]; then
    [[ " ${names[*]} " = *" $1 "* ]] || die "no fuzzer is called '$1'; there are ${names[*]}"
    names=("$1")
    shift
  fi
  if [ $# -gt 0 ]; then seconds=$1; fi
  [[ $# -le 1 && $seconds =~ ^[0-9]+$ ]] || die "fuzz takes a target and a number of seconds"
  need clang++
  need_examples libclang-rt doctest/doctest.h
  # With -O0, compilation takes half of the time, but the fuzzers run fewer inputs a second. If all fuzzers run, each for
  # at most 10 seconds, compilation takes most of the time.
  if [ ${#names[@]} -gt 1 ] && [ "$seconds" -le 10 ]; then dir=$builds/fuzz-O0 flags='-O0 -g1'; fi
  # A unity build of the tools and the examples compiles eight source files as one, so headers are read once for all
  # eight.
  configure "$dir" --preset fuzz -DCMAKE_CXX_COMPILER="$(clang)" -DLADON_WERROR="${CI:+ON}" -DCMAKE_UNITY_BUILD=ON \
    -DCMAKE_CXX_FLAGS_DEBUG="$flags" -DLADON_KISSFFT_DIR="$(kissfft_folder)"
  if [ ${#names[@]} = 1 ]; then
    build "$dir" "fuzz_${names[0]}"
  else
    build "$dir" ladon_fuzzers
  fi
  fuzz_side_by_side "$seconds" "${names[@]}"
}

# fuzz_side_by_side SECONDS TARGET...: runs several fuzzers at a time, one for each core. Fails if a fuzzer has a
# finding.
fuzz_side_by_side() {
  local seconds=$1 name status=0 running=0
  for name in "${@:2}"; do
    if [ $running = "$(getconf _NPROCESSORS_ONLN)" ]; then
      wait -n || status=1
      running=$((running - 1))
    fi
    fuzz_one "$name" "$seconds" &
    running=$((running + 1))
  done
  for (( ; running > 0; --running)); do wait -n || status=1; done
  return $status
}

# fuzz_one TARGET SECONDS: runs one fuzzer in the build folder of the caller's variable `dir`: first with its seeds, and
# then with new inputs, until SECONDS have passed. Prints one line. After a finding, prints the file of the input and the
# command that runs the input again.
fuzz_one() {
  local name=$1 status=0 dict=$root/fuzz/$1.dict finding
  local program=$dir/fuzz/fuzz_$name corpus=$builds/fuzz/corpus/$name findings=$builds/fuzz/findings
  local log=$dir/$name.log
  local options=(-max_total_time="$2" -timeout=20 -print_final_stats=1 -artifact_prefix="$findings/$name-")
  if [ -e "$dict" ]; then options+=(-dict="$dict"); fi
  mkdir -p "$corpus" "$findings"
  "$program" "${options[@]}" "$corpus" "$root/fuzz/seeds/$name" >"$log" 2>&1 || status=$?
  if [ $status = 0 ]; then
    printf '%-20s%12d executions\n' "$name" "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")"
    return
  fi
  finding=$(sed -n 's/.*Test unit written to //p' "$log" | head -n 1)
  grep -E '^broken promise|^SUMMARY|runtime error' "$log" >&2 || tail -n 20 "$log" >&2
  printf '%-20s failed (log: %s)\n  input: %s\n  again: %s %s\n' "$name" "$log" "$finding" "$program" "$finding"
  return 1
}
