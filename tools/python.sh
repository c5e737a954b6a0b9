# shellcheck shell=bash
# Python: virtual environments, and the modules of the package bench/ladon_bench.
: "${root:?}"

# python_packages FOLDER FILE...: makes a virtual environment with the packages that the files pin. Each package is
# installed by itself, the first time and when its line changed. A package that pip cannot install is left out alone.
python_packages() {
  local dir=$1 line
  shift
  if [ ! -x "$dir/bin/pip" ]; then python3 -m venv "$dir" >&2 || die "python3 makes no virtual environment in $dir"; fi
  touch "$dir/dev-installed"
  while read -r line <&3; do
    if [ -z "$line" ] || grep -qxF "$line" "$dir/dev-installed"; then continue; fi
    say "pip install $line"
    if "$dir/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: --constraint "$1" "$line" >&2
    then echo "$line" >>"$dir/dev-installed"
    else say "$line is not installed: whatever needs it is left out"; fi
  done 3< <(sed -e 's/[[:space:]]*#.*//' "$@")
}

# run_module PYTHON MODULE ARGS...: replaces this shell by ladon_bench.MODULE. PYTHONSAFEPATH keeps files of the current
# folder from hiding modules.
run_module() {
  export PYTHONPATH=$root/bench${PYTHONPATH:+:$PYTHONPATH} PYTHONSAFEPATH=1 PYTHONDONTWRITEBYTECODE=1
  exec "$1" -m "ladon_bench.$2" "${@:3}"
}
