#!/usr/bin/env bash
# BertNormalizer lower-cases a capital sigma at the end of a word differently in two implementations of the same file
# tokenizer.json: the npm package @huggingface/tokenizers 0.2.0 gives a final sigma (U+03C2), as String.toLowerCase of
# JavaScript and str.lower of Python do. The Rust crate tokenizers, here in the Python package tokenizers 0.22.1, lowers
# each character alone, and gives U+03C3. So a text of Greek capitals has other token ids in a browser than in Rust.
# The npm package also puts no spaces around an ideograph above U+FFFF, which is then part of a word.
# Needs npm, Node and pip.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @huggingface/tokenizers@0.2.0 >/dev/null
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check tokenizers==0.22.1

cat >normalise.mjs <<'EOF'
import { Tokenizer } from "@huggingface/tokenizers";
const options = { clean_text: true, handle_chinese_chars: true, strip_accents: null, lowercase: true };
const model = { type: "WordPiece", unk_token: "u", continuing_subword_prefix: "##", max_input_chars_per_word: 9, vocab: { u: 0 } };
const settings = { added_tokens: [], normalizer: { type: "BertNormalizer", ...options }, model };
const { normalizer } = new Tokenizer({ pre_tokenizer: null, post_processor: null, decoder: null, ...settings }, {});
for (const text of ["\u03a3\u0391\u03a3", "b\u{20000}"]) {
  console.log("npm ", Array.from(normalizer.normalize(text), (letter) => letter.codePointAt(0).toString(16)).join(" "));
}
EOF
cat >normalise.py <<'EOF'
from tokenizers.normalizers import BertNormalizer
for text in ("\u03a3\u0391\u03a3", "b\U00020000"):
    print("Rust", *(f"{ord(letter):x}" for letter in BertNormalizer(lowercase=True).normalize_str(text)))
EOF
{ node normalise.mjs && venv/bin/python normalise.py; } | tr -s ' ' | tee output
# Output on 29 November 2026:
diff output - <<'EOF'
npm 3c3 3b1 3c2
npm 62 20000
Rust 3c3 3b1 3c3
Rust 62 20 20000 20
EOF
