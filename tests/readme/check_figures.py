#!/usr/bin/env python3
"""check_figures.py ROOT: checks that each figure that is written by hand stands in a single Markdown page.

If two pages need a figure, one page has the figure, and the other page has a link. Only numbers of four or more
significant digits count as figures, because shorter numbers are equal by chance. Generated tables (between `<!-- figures:
NAME -->` and `<!-- end -->`), code, links and shapes such as (128,384,12) do not count.
"""

import collections
import pathlib
import re
import sys

NUMBER = re.compile(r"(?<![\w.,/-])(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\w.]\w)")
LEFT_OUT = re.compile(r"<!-- figures: .*?<!-- end -->|^```.*?^```|`[^`\n]*`|\]\([^)]*\)|\(\d+,\d+,\d+\)", re.S | re.M)
FOLDERS_LEFT_OUT = {"build", "node_modules", "dist"}


def is_figure(text):
    """Returns whether a number has four or more significant digits, and is neither a year nor a size. A size is a
    multiple of 64 without separators, such as the width 1536."""
    if len(re.sub(r"[.,]", "", text).strip("0")) < 4:
        return False
    if not text.isdigit():
        return True
    return int(text) % 64 != 0 and not 1900 <= int(text) < 2100


def figures(text):
    """Returns the figures of a page, without the separators of thousands."""
    return {number.replace(",", "") for number in NUMBER.findall(LEFT_OUT.sub(" ", text)) if is_figure(number)}


def pages(root):
    """Yields the Markdown files below `root`, without those of builds, packages and hidden folders."""
    for page in sorted(root.rglob("*.md")):
        folders = page.relative_to(root).parts[:-1]
        if not any(folder.startswith(".") or folder in FOLDERS_LEFT_OUT for folder in folders):
            yield page


def repeated(texts):
    """Yields a line for each figure that several pages of {name: text} contain."""
    names = collections.defaultdict(list)
    for name, text in texts.items():
        for figure in figures(text):
            names[figure].append(name)
    for figure, holders in sorted(names.items()):
        if len(holders) > 1:
            yield f"{figure} stands in {' and in '.join(holders)}: keep one, and replace the other by a link"


if __name__ == "__main__":
    ROOT = pathlib.Path(sys.argv[1])
    wrong = list(repeated({str(page.relative_to(ROOT)): page.read_text() for page in pages(ROOT)}))
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)
