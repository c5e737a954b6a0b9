#!/usr/bin/env bash
# transformers 5.24.0 reads an empty second text in two ways: tokenizer("all", "") gives the ids of a single text, but
# tokenizer(["all"], [""]) and tokenizer([("all", "")]) give those of a pair, as the crate tokenizers 0.23.3 does. The call
# for one text asks whether the second text is true (tokenization_utils_tokenizers.py), and an empty string is not. So a
# reranker gives an empty document one score in a loop and another score in a batch. Ladon encodes a pair.
# Needs pip.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check transformers==5.24.0 tokenizers==0.23.3

cat >pair.py <<'EOF'
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

words = ["[CLS]", "[SEP]", "[UNK]", "all", "well"]
tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer.post_processor = processors.TemplateProcessing(
    single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 0), ("[SEP]", 1)])
fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer)
for second in ("well", ""):
    print(f'"{second}" crate:', tokenizer.encode("all", second).ids)
    print(f'"{second}" one call:', fast("all", second)["input_ids"])
    print(f'"{second}" two lists:', *fast(["all"], [second])["input_ids"])
    print(f'"{second}" list of pairs:', *fast([("all", second)])["input_ids"])
EOF
venv/bin/python pair.py 2>/dev/null | tee output
# Output on 30 November 2026:
diff output - <<'EOF'
"well" crate: [0, 3, 1, 4, 1]
"well" one call: [0, 3, 1, 4, 1]
"well" two lists: [0, 3, 1, 4, 1]
"well" list of pairs: [0, 3, 1, 4, 1]
"" crate: [0, 3, 1, 1]
"" one call: [0, 3, 1]
"" two lists: [0, 3, 1, 1]
"" list of pairs: [0, 3, 1, 1]
EOF
