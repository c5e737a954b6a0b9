# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Implements ./dev families: compares models of transformer families with the hidden states that a library recorded.
: "${root:?}" "${builds:?}"

# families [--docs] FOLDER...: prints a line for each folder of a model, or for each such folder in FOLDER. With --docs,
# also compares the whole models (check_all_imports), and writes docs/families.md.
#     NAME ok ERROR          the largest error, relative to the largest hidden value
#     NAME missing REASON
#     NAME wrong REASON      the exit status is 1
families() {
  local document='' list program folder line status=0 dir=$builds/families
  if [ "${1:-}" = --docs ]; then document=yes; shift; fi
  [ $# -gt 0 ] || die "name a folder with config.json, model.safetensors and io.safetensors, or a folder of such folders"
  need_examples doctest/doctest.h
  list=$(for folder in "$@"; do family_folders "$folder"; done | paste -sd ';')
  [ -n "$list" ] || die "no folder has a config.json and an io.safetensors: $*"
  configure "$dir" --preset native -DLADON_EXAMPLES= -DLADON_BUILD_BENCH=OFF -DLADON_FAMILIES="$list"
  # Continues after a program that does not compile.
  cmake --build "$dir" --target ladon_family_programs -- -k 0 >"$dir/build.log" 2>&1 ||
    say "a program does not compile: see $dir/build.log"
  rm -f "$dir/results.txt"
  while read -r folder program; do
    line=$("$program" "$folder" 2>/dev/null) || status=1
    printf '%s\n' "${line:-${folder##*/} wrong: the program does not compile, or stops}" | tee -a "$dir/results.txt" |
      sed -E 's/( ok [^ ]+) .*/\1/'
  done <"$dir/tests/families/programs.txt"
  if [ -n "$document" ]; then
    check_all_imports --docs "$@" >&2 || status=1
    document_families "$list" -DRESULTS="$dir/results.txt"
  fi
  return $status
}

# document_families FOLDERS CMAKE_ARGS...: writes columns of docs/families.md for a list of folders, separated by ;.
document_families() {
  cmake -DTOOL="$(weights_tool)" -DFOLDERS="$1" -DDOCUMENT="$root/docs/families.md" "${@:2}" \
    -P "$root/tests/families/document.cmake" >&2
}

# Prints the folder $1, or its folders, if they contain a model and recorded tensors.
family_folders() {
  local folder
  [ -d "$1" ] || die "there is no folder $1"
  for folder in "$1" "$1"/*/; do
    if [ -e "$folder/config.json" ] && [ -e "$folder/io.safetensors" ]; then (cd "$folder" && pwd); fi
  done
}
