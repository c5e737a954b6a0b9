# SPDX-License-Identifier: Apache-2.0
"""check_requirements FOLDER: checks every list of Python packages below the folder. Prints each problem. The exit
status is 1 if there is a problem.

A list requirements*.in names the packages that the project uses. tools/lock_requirements makes the list
requirements*.txt from the .in list. The .txt list must have each package of the .in list at the same version, and a
hash of every package. The .txt list must not have options, because an option could name a package index.
"""

import pathlib
import re
import sys

SKIPPED = {"build", "node_modules", ".git"}
PINNED = re.compile(r"([A-Za-z0-9._-]+)==([^\s;]+)(?: *;[^\\]*?)?((?: --hash=sha256:[0-9a-f]{64})+)")


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def joined_lines(text):
    """Returns the lines of a list without comments. Joins a line that ends with a backslash with the next line."""
    lines = re.sub(r" *\\\n *", " ", text).splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def problems_of(asked, locked):
    """Yields the problems of a .in list and its .txt list, which are given as texts."""
    versions = {}
    for line in joined_lines(locked):
        found = PINNED.fullmatch(line)
        if not found:
            yield f"is no package with a version and hashes: {line[:80]}"
            continue
        versions.setdefault(canonical(found[1]), set()).add(found[2])
    for line in joined_lines(asked):
        if line.startswith("-c "):
            continue
        name, _, version = line.partition("==")
        if version not in versions.get(canonical(name), set()) and (version or canonical(name) not in versions):
            yield f"lacks {line}: run tools/lock_requirements"


def self_test():
    hashed = "a==1 ; python_version < '4' \\\n    --hash=sha256:" + "0" * 64 + " \\\n    --hash=sha256:" + "1" * 64
    wrong = {("a==1", "a==1"): "no hash", ("a==2", hashed): "another version", ("b", hashed): "missing",
             ("a", hashed + "\n--index-url x"): "an option", ("a", "a>=1 --hash=sha256:" + "0" * 64): "no version"}
    assert not list(problems_of("# comment\n-c other.txt\nA==1", hashed))
    for texts, what in wrong.items():
        assert list(problems_of(*texts)), what


def main():
    self_test()
    root, wrong = pathlib.Path(sys.argv[1]), 0
    for path in sorted(root.rglob("requirements*")):
        if SKIPPED & set(path.relative_to(root).parts) or path.suffix not in (".in", ".txt"):
            continue
        asked, locked = path.with_suffix(".in"), path.with_suffix(".txt")
        missing = next((file for file in (asked, locked) if not file.exists()), None)
        found = ["is missing"] if missing else list(problems_of(asked.read_text(), locked.read_text()))
        for problem in found:
            print(f"{(missing or locked).relative_to(root)} {problem}", file=sys.stderr)
        wrong += len(found)
    sys.exit(1 if wrong else 0)


main()
