#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""doxygen_filter.py HEADER: prints a header with its comments in the form that Doxygen reads.

Ladon's comments are `//` lines, which Doxygen ignores. The filter turns a comment into a /** */ block, and a comment
behind a member into /**< */. Indented lines of a comment are code. The first comment of a header describes the file.
"""

import pathlib
import re
import sys

COMMENT = re.compile(r"^( *)//(?: (.*))?$")
TRAILING = re.compile(r"^(\s*[^/\s].*?[;,{})])\s+// (.*)$")


def block(lines, indent, about_file):
    """Returns the lines of a comment as a comment block of Doxygen. Lines that begin with four spaces are code."""
    text = ["@file"] if about_file else []
    code = False
    for line in lines:
        indented = line.startswith("    ") or (code and not line.strip())
        if indented != code:
            text.append("@code{.cpp}" if indented else "@endcode")
            code = indented
        text.append(line[4:] if code else line)
    if code:
        text.append("@endcode")
    return [f"{indent}/**", *(f"{indent} {line}" for line in text), f"{indent} */"]


def converted(lines):
    """Yields the lines of a header for Doxygen."""
    comment, indent, first = [], "", True
    for line in [*lines, ""]:
        if "SPDX-License-Identifier" in line:
            continue
        found = COMMENT.match(line)
        if found and not (comment and found[1] != indent):
            comment.append(found[2] or "")
            indent = found[1]
            continue
        if comment:
            yield from block(comment, indent, first)
            comment, first = [], False
        if found:
            comment, indent = [found[2] or ""], found[1]
            continue
        line = re.sub(r"^namespace LADON_NAMESPACE((?:::\w+)*) \{", r"namespace ladon\1 {", line)
        trailing = TRAILING.match(line)
        yield f"{trailing[1]}  /**< {trailing[2]} */" if trailing else line


if __name__ == "__main__":
    print("\n".join(converted(pathlib.Path(sys.argv[1]).read_text().splitlines())))
