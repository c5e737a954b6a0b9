# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ./dev docs: the documents and the reference of the headers as a site.
: "${root:?}" "${builds:?}"

# docs [FOLDER]: builds the site into FOLDER. A warning of MkDocs, such as a link or an anchor without a target, is an
# error.
docs() {
  local out=${1:-$builds/docs/site} venv=$builds/docs-venv
  need python3 pip doxygen
  python_packages "$venv" "$root/tools/docs/requirements.txt"
  mkdir -p "$builds/docs" "$out"
  out=$(cd "$out" && pwd)
  python3 -B "$root/tools/docs/pages.py" "$root" "$builds/docs/pages"
  # Not --quiet: MkDocs then neither prints nor counts warnings.
  (cd "$root" && LADON_DOCS_PAGES=$builds/docs/pages NO_MKDOCS_2_WARNING=1 PYTHONDONTWRITEBYTECODE=1 \
    "$venv/bin/mkdocs" build --strict --clean --site-dir "$out" 2>&1 | sed '/^INFO /d' >&2)
  say "wrote $out: open index.html"
}
