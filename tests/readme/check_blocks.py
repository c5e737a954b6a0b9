#!/usr/bin/env python3
"""check_blocks.py ROOT: checks that each block of code in the pages is run by a test, or that the page states why not.

A block of C++ needs no marker, because the test ladon.readme.cpp compiles all C++ blocks. Each other block needs one of
these markers in the line before it:

    <!-- NAME.SUFFIX -->     a test takes the block by this name
    <!-- run by FILE -->     FILE has each command of the block
    <!-- read by FILE -->    FILE reads blocks of this language from the page
    <!-- not run: REASON -->
"""

import dataclasses
import pathlib
import re
import sys


@dataclasses.dataclass
class Block:
    line: int
    language: str
    marker: str  # the line before the block
    code: list[str]


def blocks(text):
    """Returns the fenced blocks of a page. Raises ValueError for an indented block, which has no language."""
    found, inside, before = [], None, ""
    for number, line in enumerate(text.splitlines(), 1):
        if inside is not None:
            if line.strip() == "```":
                found.append(inside)
                inside = None
            else:
                inside.code.append(line)
        elif line.startswith("```"):
            inside = Block(number, line[3:].strip(), before, [])
        elif line.startswith("    ") and not before.strip():
            raise ValueError(f"line {number}: an indented block; write it between ```")
        before = line
    if inside is not None:
        raise ValueError(f"line {inside.line}: a block without end")
    return found


def commands(code):
    """Returns the commands of a block for a shell, without prompts and comments."""
    lines = [re.sub(r"\s+#.*$", "", line.removeprefix("$ ")).strip() for line in code]
    return [line for line in lines if line]


def mistake(block, root):
    """Returns a description of the mistake in a block or its marker, or None."""
    marker = re.fullmatch(r"<!-- (.+) -->", block.marker)
    marker = marker[1] if marker else ""
    if block.language == "cpp" and not marker:
        return "a backtick in C++ hides the code from ladon.readme.cpp" if "`" in "".join(block.code) else None
    if reason := re.fullmatch(r"not run: (.+)", marker):
        return None if len(reason[1].split()) >= 3 else "the reason is too short"
    if reader := re.fullmatch(r"(run|read) by (\S+)", marker):
        file = root / reader[2]
        if not file.is_file():
            return f"{reader[2]} does not exist"
        text = file.read_text()
        needed = commands(block.code) if reader[1] == "run" else [f"```{block.language}"]
        missing = [one for one in needed if one not in text]
        return f"{reader[2]} lacks: {'; '.join(missing)}" if missing else None
    if re.fullmatch(r"[\w.-]+\.\w+", marker):
        return None if named(marker, root) else f"no test takes {marker}"
    return "no test, and no <!-- not run: REASON -->"


def named(name, root):
    """Returns whether the text of a file of the tests contains `name`, so that a test takes the block."""
    files = [file for suffix in ("CMakeLists.txt", "*.cmake", "*.py", "*.cpp", "*.mjs")
             for folder in ("tests", "wasm/tests") for file in (root / folder).rglob(suffix)
             if "node_modules" not in file.parts]
    spellings = [name, name.replace(".", r"\.")]
    if name.endswith(".py"):  # tests/recipes/export.py adds the suffix
        spellings.append(f'"{name.removesuffix(".py")}": ')
    return any(one in file.read_text(errors="replace") for file in files for one in spellings)


def pages(root):
    return [root / "README.md", root / "CONTRIBUTING.md", root / "wasm/README.md", *sorted((root / "docs").glob("*.md")),
            *sorted((root / "bench").glob("*.md"))]


def mistakes(root):
    """Yields a line for each mistake in the pages."""
    for page in pages(root):
        name = page.relative_to(root)
        try:
            found = blocks(page.read_text())
        except ValueError as error:
            yield f"{name}: {error}"
            continue
        for block in found:
            if wrong := mistake(block, root):
                yield f"{name}:{block.line}: {wrong}"


if __name__ == "__main__":
    wrong = list(mistakes(pathlib.Path(sys.argv[1])))
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)
