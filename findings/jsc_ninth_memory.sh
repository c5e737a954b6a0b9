#!/usr/bin/env bash
# JavaScriptCore (WebKitGTK 2.50.6): a process gets at most eight WebAssembly memories whose bounds the processor checks
# (the option maxNumWasmFastMemories). In every further memory, each load and store has a comparison and a branch. There
# is no warning, and which instances are slow depends on the order in which a page makes them. Attention of 64 tokens at
# width 128 takes 1.4 to 1.6 times as long in the ninth instance (Zen 3). A page with many kernels, or a benchmark of
# many modules, should free instances before it makes others.
# Needs a Debian 12 machine with apt-get and dpkg-deb.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
version=2.50.6-1~deb12u2
apt-get download libjavascriptcoregtk-4.0-bin=$version libjavascriptcoregtk-4.0-18=$version libicu72 libglib2.0-0 libatomic1 \
  >/dev/null 2>&1
for package in *.deb; do dpkg-deb -x "$package" root; done
jsc() { LD_LIBRARY_PATH=$(echo root/usr/lib/*-linux-gnu) root/usr/bin/jsc "$@"; }

echo 'Array.from({ length: Number(arguments[0]) }, () => new WebAssembly.Memory({ initial: 1 }));' >memories.js
for count in 8 9; do
  # With this option, the shell ends if a memory gets no checks by the processor.
  answer=fast
  (jsc --crashIfWasmCantFastMemory=1 memories.js -- $count) >/dev/null 2>&1 || answer='one is slow'
  printf '%s memories: %s\n' "$count" "$answer" | tee -a output
done
# Output on 29 November 2026:
diff output - <<'EOF'
8 memories: fast
9 memories: one is slow
EOF
