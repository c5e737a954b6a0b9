# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Implements ./dev docs: builds a site with the documents and the reference of the headers.
: "${root:?}" "${builds:?}"

# docs [FOLDER]: builds the site into FOLDER. Warnings are errors. MkDocs warns about a link or an anchor without a
# target. Doxygen warns about a comment with an unknown name.
docs() {
  local out=${1:-$builds/docs/site} venv=$builds/docs-venv log=$builds/docs/doxygen.log
  need python3 pip doxygen
  python_packages "$venv" "$root/tools/docs/requirements.txt"
  mkdir -p "$builds/docs" "$out"
  out=$(cd "$out" && pwd)
  rm -rf "${out:?}/assets/.doxy" "$log" # otherwise, mkdoxy would not notice a changed filter
  python3 -B "$root/tools/docs/pages.py" "$root" "$builds/docs/pages"
  export LADON_DOCS_PAGES=$builds/docs/pages LADON_DOXYGEN_LOG=$log NO_MKDOCS_2_WARNING=1 PYTHONDONTWRITEBYTECODE=1
  # MkDocs runs without --quiet, because with --quiet MkDocs neither prints nor counts warnings.
  (cd "$root" && "$venv/bin/mkdocs" build --strict --clean --site-dir "$out" 2>&1 | sed '/^INFO /d' >&2)
  rm -rf "$out/assets/.doxy"
  if [ -s "$log" ]; then cat "$log" >&2; die "Doxygen has warnings"; fi
  say "wrote $out: open index.html"
}
