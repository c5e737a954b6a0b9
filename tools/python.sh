# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Python: virtual environments, and the modules of the package bench/ladon_bench.
: "${root:?}"

# python_packages FOLDER FILE...: makes a virtual environment with the packages of the lists, which pin versions and
# hashes of all dependencies. pip runs the first time and for the lines that changed. Where pip cannot install all, each
# package is installed by itself, and those that pip cannot install are left out.
python_packages() {
  local dir=$1 line lines=()
  if [ ! -x "$dir/bin/pip" ]; then python3 -m venv "$dir" >&2 || die "python3 makes no virtual environment in $dir"; fi
  touch "$dir/dev-installed"
  while read -r line; do
    if ! grep -qxF -- "$line" "$dir/dev-installed"; then lines+=("$line"); fi
  done < <(package_lines "${@:2}")
  if [ ${#lines[@]} = 0 ]; then return; fi
  say "pip install: ${#lines[@]} packages for ${dir##*/}"
  if pip_install "$dir" --quiet "${lines[@]}"; then return; fi
  for line in "${lines[@]}"; do
    pip_install "$dir" --quiet --no-deps "$line" || say "${line%% *} is not installed: whatever needs it is left out"
  done
}

# package_lines FILE...: prints each package of the lists in one line: its name, version and hashes.
package_lines() { sed -e '/^#/d' -e ':next' -e '/\\$/{N;s/ *\\\n */ /;b next' -e '}' "$@" | sort -u; }

# pip_install FOLDER OPTION... LINE...: installs packages whose files have one of the hashes of their line. Builds none
# from source, because pip would take the packages that the build needs without a hash.
pip_install() {
  local dir=$1 options=()
  shift
  while [[ $1 = --* ]]; do options+=("$1"); shift; done
  "$dir/bin/pip" install "${options[@]}" --disable-pip-version-check --only-binary :all: --require-hashes \
    -r <(printf '%s\n' "$@") >&2 || return
  printf '%s\n' "$@" >>"$dir/dev-installed"
}

# run_module PYTHON MODULE ARGS...: replaces this shell by ladon_bench.MODULE. PYTHONSAFEPATH keeps files of the current
# folder from hiding modules.
run_module() {
  export PYTHONPATH=$root/bench${PYTHONPATH:+:$PYTHONPATH} PYTHONSAFEPATH=1 PYTHONDONTWRITEBYTECODE=1
  exec "$1" -m "ladon_bench.$2" "${@:3}"
}
