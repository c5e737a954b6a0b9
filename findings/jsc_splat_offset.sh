#!/usr/bin/env bash
# JavaScriptCore (WebKitGTK 2.50.6, x86-64): a `v128.load32_splat` without an offset becomes one vbroadcastss from memory.
# With a constant offset, it becomes three instructions: a load into an integer register, vmovq and vshufps. LLVM writes
# constant offsets where it can, so a loop of a matrix product that broadcasts the weights of four rows has three of
# these. With a pointer for each row, and no offsets, attention of 64 tokens at width 128 is 1.3 times as fast in
# JavaScriptCore (Zen 3).
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

cat >splat.js <<'EOF'
// f(p: i32, rounds: i32) -> f32 adds the float at p + offset, in all lanes, once a round.
const f = (offset) => {
  const section = (id, ...content) => [id, content.length, ...content];
  const body = [
    1, 1, 0x7b, // a local: the sums
    0x03, 0x40, // loop
    0x20, 2, 0x20, 0, 0xfd, 0x09, 2, offset, 0xfd, 0xe4, 1, 0x21, 2, // sums = f32x4.add(sums, v128.load32_splat(p))
    0x20, 1, 0x41, 1, 0x6b, 0x22, 1, 0x0d, 0, 0x0b, // until rounds is 0
    0x20, 2, 0xfd, 0x1f, 0, 0x0b, // the first lane
  ];
  const bytes = [0, 97, 115, 109, 1, 0, 0, 0, ...section(1, 1, 0x60, 2, 0x7f, 0x7f, 1, 0x7d), ...section(3, 1, 0),
    ...section(5, 1, 0, 1), ...section(7, 1, 1, 102, 0, 0), ...section(10, 1, body.length, ...body)];
  return new WebAssembly.Instance(new WebAssembly.Module(Uint8Array.from(bytes))).exports.f;
};
const run = f(Number(arguments[0]));
for (let i = 0; i < 2000; ++i) run(64, 1000);
EOF
for offset in 0 4; do
  jsc --useConcurrentJIT=0 --dumpOMGDisassembly=1 splat.js -- $offset >log 2>&1
  instructions=$(sed -n 's/^asm *0x[0-9a-f]*: \(vbroadcastss\|vmovq\|vshufps\).*/\1/p' log | sort -u | tr '\n' ' ')
  printf 'offset %s: %s\n' "$offset" "$instructions" | tee -a output
done
# Output on 29 November 2026:
diff output - <<'EOF'
offset 0: vbroadcastss 
offset 4: vmovq vshufps 
EOF
