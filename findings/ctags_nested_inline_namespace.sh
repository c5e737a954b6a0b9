#!/usr/bin/env bash
# Universal Ctags (Debian package universal-ctags 5.9.20210829.0-1): a C++20 nested namespace with `inline` in its name,
# `namespace a::inline b::c {`, gives no tags at all. Every definition inside is missing: structs, functions, variables.
# There is no warning, and the exit status is 0. Two spellings with the same meaning do give tags: separate blocks
# (`namespace a { inline namespace b { namespace c {`), and a macro that expands to `a::inline b`.
#
# Editors and tools that read tags then show a header without definitions. Ladon's headers use the macro
# LADON_NAMESPACE for this reason. Needs a Debian 12 machine with apt-get and dpkg-deb.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download universal-ctags=5.9.20210829.0-1 libjansson4 libyaml-0-2 libseccomp2 >/dev/null 2>&1
for package in *.deb; do dpkg-deb -x "$package" root; done
tags() { LD_LIBRARY_PATH=$(echo root/usr/lib/*-linux-gnu) root/usr/bin/ctags-universal -f - "$1" | cut -f1 | tr '\n' ' '; }

body='struct Shape { int width; };
inline int area(int a) { return a * a; }'
printf 'namespace a::inline b::c {\n%s\n}\n' "$body" >nested.hpp
printf 'namespace a { inline namespace b { namespace c {\n%s\n} } }\n' "$body" >separate.hpp
printf '#define A_B a::inline b\nnamespace A_B::c {\n%s\n}\n' "$body" >macro.hpp

for file in nested separate macro; do printf '%s: %s\n' "$file" "$(tags $file.hpp)" | tee -a output; done
# Output on 27 November 2026:
diff output - <<'EOF'
nested: 
separate: Shape a area b c width 
macro: A_B A_B Shape area c width 
EOF
