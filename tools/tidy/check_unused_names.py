# SPDX-License-Identifier: Apache-2.0
"""check_unused_names FILE...: finds names that a C++ source declares and does not use: `using ladon::Shape;` and
`namespace layout = ladon::layout;`. Prints each one. The exit status is 1 if there is one.

clang-tidy has checks of such declarations (misc-unused-using-decls, misc-unused-alias-decls), which report only the
main file. They would parse the headers once for each source, and take most of the time of ./dev tidy. This script reads
the text, and counts a name as used if it occurs once more outside of comments and strings.
"""

import pathlib
import re
import sys

NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', re.DOTALL)
DECLARATION = re.compile(r"^[ \t]*(?:using ([\w:]+::\w+(?:,\s*[\w:]+::\w+)*);|namespace (\w+) = [\w:]+;)", re.MULTILINE)


def unused_names(text):
    """Yields the line and the name of each declaration without a use."""
    code = NO_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    for found in DECLARATION.finditer(code):
        names = [found[2]] if found[2] else [path.rpartition("::")[2] for path in re.split(r",\s*", found[1])]
        rest = code[: found.start()] + code[found.end() :]
        for name in names:
            if not re.search(rf"\b{name}\b", rest):
                yield code.count("\n", 0, found.start()) + 1, name


def self_test():
    assert list(unused_names("using a::B;\nB b;\n")) == []
    assert list(unused_names("\nusing a::B; // B\n")) == [(2, "B")]
    assert list(unused_names("using a::B, c::d::E;\nE e;\n")) == [(1, "B")]
    assert list(unused_names('namespace x = a::b;\nauto y = "x";\n')) == [(1, "x")]


def main():
    self_test()
    bad = False
    for name in sys.argv[1:]:
        for line, unused in unused_names(pathlib.Path(name).read_text(encoding="utf-8")):
            print(f"{name}:{line}: '{unused}' is declared and not used", file=sys.stderr)
            bad = True
    return bad


if __name__ == "__main__":
    sys.exit(main())
