#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints a random sample of comments of the code and of sentences of the documents.

A reader who has not seen the code marks each item: "understood at once" or "had to read twice". The goal is at most 3
of 70 comments and 1 of 30 sentences. For the same tree, equal seeds give equal samples.

    tools/english/sample.py [--seed N] [--comments N] [--sentences N]
"""

import argparse
import pathlib
import random
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
SLASHES = {".hpp", ".cpp", ".h", ".c", ".ts", ".mjs", ".in"}
HASHES = {".cmake", ".sh", ".py", ".txt"}
# Matches comment lines without text: licences, rulers, and suppressions for tools.
NO_TEXT = re.compile(r"SPDX|NOLINT|clang-format|shellcheck|@ts-|eslint|^[-=/ ]*$")


def tracked_files():
    output = subprocess.run(["git", "-C", ROOT, "ls-files"], capture_output=True, text=True, check=True).stdout
    return [ROOT / line for line in output.splitlines()]


def comment_of(line, mark):
    """Returns the text of a line that consists only of a comment, or None."""
    stripped = line.strip()
    if mark == "//" and stripped.startswith(("/*", "* ", "*/")):
        return stripped.strip("/* ")
    return stripped[len(mark) :].strip() if stripped.startswith(mark) and not stripped.startswith("#!") else None


def comments(path):
    """Returns the comments of a file as pairs (line number, text)."""
    mark = "//" if path.suffix in SLASHES else "#"
    found, first, lines = [], 0, []
    for number, line in enumerate([*path.read_text(encoding="utf-8").splitlines(), ""], 1):
        text = comment_of(line, mark)
        if text is None or NO_TEXT.search(text):
            if lines and len(" ".join(lines).split()) >= 4:
                found.append((first, "\n    ".join(lines)))
            lines = []
        else:
            if not lines:
                first = number
            lines.append(text)
    return found


def sentences(path):
    """Returns the sentences in the paragraphs of a Markdown file as pairs (line number, text)."""
    found, in_code, number_of_paragraph, paragraph = [], False, 0, []
    for number, line in enumerate([*path.read_text(encoding="utf-8").splitlines(), ""], 1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        is_text = not in_code and re.match(r"[A-Za-z0-9(`\[*\"-]", line.strip()) and not line.startswith("    ")
        if not is_text or re.match(r"(-|\d+\.) ", line.lstrip()):  # a list item is a paragraph of its own
            for sentence in re.split(r"(?<=[.:!?]) +(?=[A-Z`\[])", " ".join(paragraph)):
                if len(sentence.split()) >= 4:
                    found.append((number_of_paragraph, sentence))
            paragraph = []
        if is_text:
            if not paragraph:
                number_of_paragraph = number
            paragraph.append(line.strip())
    return found


def sample(title, items, count, seed):
    print(f"{title}: {count} of {len(items)}, seed {seed}\n")
    for i, (path, number, text) in enumerate(random.Random(seed).sample(items, count), 1):
        print(f"{i}. {path.relative_to(ROOT)}:{number}\n    {text}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--comments", type=int, default=70)
    parser.add_argument("--sentences", type=int, default=30)
    args = parser.parse_args()
    files = tracked_files()
    code = [(path, *item) for path in files if path.suffix in SLASHES | HASHES for item in comments(path)]
    documents = [(path, *item) for path in files if path.suffix == ".md" for item in sentences(path)]
    sample("Comments", code, args.comments, args.seed)
    sample("Sentences", documents, args.sentences, args.seed)


if __name__ == "__main__":
    main()
