# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Implements ./dev bench compare: compares ladon_bench of a revision with ladon_bench of the work tree.
: "${root:?}" "${builds:?}"

# bench_compare REVISION [--isa NAME] [--precision NAME] ARGS...: builds ladon_bench of REVISION and of the work tree,
# and compares the shares of the peak that both reach.
bench_compare() {
  local revision=${1:-} isa=native program=ladon_bench arguments=() commit dir=$builds/compare
  case $revision in '' | -*) die "name a revision: ./dev bench compare REVISION [ARGS...]" ;; esac
  shift
  while [ $# -gt 0 ]; do
    case $1 in
      --isa) isa=${2:?--isa takes native, default, sse2, avx2, avx512 or a value of -march}; shift ;;
      --precision)
        program=$(program_of_precision "${2:-}")
        shift ;;
      *) arguments+=("$1") ;;
    esac
    shift
  done
  need_bench
  need git tar python3
  commit=$(git -C "$root" rev-parse --verify --quiet "$revision^{commit}") || die "there is no revision '$revision'"
  take_revision "$commit" "$dir/source"
  say "building $revision"
  configure_bench_of "$dir/source" "$dir/revision-$isa" -DLADON_ARCH="$isa"
  build "$dir/revision-$isa" "$program"
  say "building the work tree"
  configure_bench "$dir/work-tree-$isa" -DLADON_ARCH="$isa"
  build "$dir/work-tree-$isa" "$program"
  run_module python3 compare --revision "$revision" --commit "$commit" --isa "$isa" \
    --programs "$dir/revision-$isa/bench/$program" "$dir/work-tree-$isa/bench/$program" \
    ${arguments[@]+"${arguments[@]}"}
}

# take_revision COMMIT FOLDER: copies the files of a commit. Unlike a git worktree, a copy needs no write access to the
# repository. tar -m sets the time of the files to the current time, so that ninja compiles the files again.
take_revision() {
  if [ "$(cat "$2/.commit" 2>/dev/null)" = "$1" ]; then return; fi
  rm -rf "$2"
  mkdir -p "$2"
  git -C "$root" archive "$1" | tar -x -m -C "$2"
  printf '%s\n' "$1" >"$2/.commit"
}
