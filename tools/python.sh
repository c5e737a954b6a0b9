# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Functions for Python: virtual environments, and the modules of the package bench/ladon_bench.
: "${root:?}"

# python_packages FOLDER FILE...: makes a virtual environment in FOLDER with the packages of the lists FILE. The lists
# pin versions and hashes of all dependencies. pip runs only for new and changed lines. If pip cannot install all
# packages together, pip installs each package separately, and packages that pip cannot install are left out.
python_packages() {
  local dir=$1 line lines=()
  if [ ! -x "$dir/bin/pip" ]; then python3 -m venv "$dir" >&2 || die "python3 cannot make a virtual environment in $dir"; fi
  touch "$dir/dev-installed"
  while read -r line; do
    if ! grep -qxF -- "$line" "$dir/dev-installed"; then lines+=("$line"); fi
  done < <(package_lines "${@:2}")
  if [ ${#lines[@]} = 0 ]; then return; fi
  say "pip install: ${#lines[@]} packages for ${dir##*/}"
  if pip_install "$dir" --quiet "${lines[@]}"; then return; fi
  for line in "${lines[@]}"; do
    pip_install "$dir" --quiet --no-deps "$line" || say "${line%% *} cannot be installed: parts that need this package are left out"
  done
}

# package_lines FILE...: prints one line for each package of the lists: name, version and hashes.
package_lines() { sed -e '/^#/d' -e ':next' -e '/\\$/{N;s/ *\\\n */ /;b next' -e '}' "$@" | sort -u; }

# pip_install FOLDER OPTION... LINE...: installs packages. The file of a package must have one of the hashes in the
# line. Does not build packages from source, because pip would install the build dependencies without checking hashes.
# The options stand last: --only-binary would undo an earlier --no-binary.
pip_install() {
  local dir=$1 options=()
  shift
  while [[ $1 = --* ]]; do options+=("$1"); shift; done
  "$dir/bin/pip" install --disable-pip-version-check --only-binary :all: --require-hashes "${options[@]}" \
    -r <(printf '%s\n' "$@") >&2 || return
  printf '%s\n' "$@" >>"$dir/dev-installed"
}

# compile_package FOLDER LINE: compiles the package of the line from its sources, which must have one of the hashes. The
# build uses only packages that python_packages has installed.
compile_package() {
  if grep -qxF -- "$2" "$1/dev-installed"; then return; fi
  say "pip compiles ${2%% *}"
  pip_install "$1" --quiet --no-build-isolation --no-deps "--no-binary=${2%%==*}" "$2" || die "${2%% *} does not compile"
}

# run_module PYTHON MODULE ARGS...: replaces this shell by ladon_bench.MODULE. With PYTHONSAFEPATH, files in the current
# folder cannot hide modules.
run_module() {
  export PYTHONPATH=$root/bench${PYTHONPATH:+:$PYTHONPATH} PYTHONSAFEPATH=1 PYTHONDONTWRITEBYTECODE=1
  exec "$1" -m "ladon_bench.$2" "${@:3}"
}
