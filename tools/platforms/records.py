#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""records.py store NAME FOLDER SET: stores in records/NAME.json what the last run of ctest in FOLDER tested on the
platform NAME, and rewrites the table of docs/platforms.md. SET is the test set: quick, brief, linked or compiled.

records.py table: rewrites the table of docs/platforms.md.
records.py check: fails if the table of docs/platforms.md is not that of the records.
"""

import datetime
import json
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
NOT_RUN = {"linked": "compiled and linked, not run", "compiled": "compiled, not linked"}  # by the test set
BEGIN, END = "<!-- platforms -->\n", "<!-- end -->\n"


def platforms(text):
    """Returns the description of each platform in the text of a table."""
    rows = [[column.strip() for column in line.split("|")] for line in text.splitlines() if not line.startswith("#")]
    return {row[0]: row[1] for row in rows}


def first_line(*command):
    """Returns the first line that a command prints."""
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.splitlines()[0]


def counts(results):
    """Returns how many tests passed, and how many there are, from the report of ctest in the format JUnit. A skipped
    test did not pass."""
    tests = xml.etree.ElementTree.fromstring(results).findall("testcase")
    return sum(test.get("status") == "run" for test in tests), len(tests)


def cached(folder, name):
    """Returns the value of a variable in the CMake cache of a build folder."""
    found = re.search(rf"^{name}:\w+=(.*)$", (folder / "CMakeCache.txt").read_text(), re.M)
    return found[1] if found else ""


def compiler(folder):
    file = next(folder.glob("CMakeFiles/*/CMakeCXXCompiler.cmake")).read_text()
    program, argument = (re.search(rf'^set\({name} "(.*)"\)$', file, re.M)[1] for name in
                         ("CMAKE_CXX_COMPILER", "CMAKE_CXX_COMPILER_ARG1"))
    version = first_line(program.split(";")[0], *argument.split(), "--version")
    return f"zig {first_line(program, 'version')} ({version})" if program.endswith("/zig") else version


def emulator(folder):
    """Returns the first line of `EMULATOR --version`. The file of tests names the emulator."""
    command = re.search(r'"(qemu-\w+|wine)"', (folder / "tests/CTestTestfile.cmake").read_text())
    return first_line(command[1], "--version") if command else "none"


def record(folder, test_set):
    passed, tests = counts((folder / "results.xml").read_text())
    return {"date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(), "compiler": compiler(folder),
            "emulator": emulator(folder), "set": test_set, "passed": passed, "tests": tests}


def table(names, records):
    """Returns the table of all platforms. A platform without a record was never tested."""
    lines = ["| platform | `./dev test --platform` | state | date | compiler | emulator |", "|---|---|---|---|---|---|"]
    for name, description in names.items():
        if (found := records.get(name)) is None:
            lines.append(f"| {description} | `{name}` | not tested | | | |")
        else:
            state = f"{found['set']} set: {found['passed']} of {found['tests']} passed"
            if done := NOT_RUN.get(found["set"]):
                state = f"{done}; {found['passed']} of {found['tests']} checks of symbols passed"
            versions = f"{found['compiler']} | {found['emulator']}"
            lines.append(f"| {description} | `{name}` | {state} | {found['date']} | {versions} |")
    return "\n".join(lines) + "\n"


def with_table(page, rows):
    """Returns the page with `rows` between the two markers."""
    before, rest = page.split(BEGIN)
    return before + BEGIN + rows + END + rest.split(END, 1)[1]


def main():
    page, records = ROOT / "docs/platforms.md", HERE / "records"
    if len(sys.argv) == 5 and sys.argv[1] == "store":
        text = json.dumps(record(pathlib.Path(sys.argv[3]), sys.argv[4]), indent=2) + "\n"
        (records / f"{sys.argv[2]}.json").write_text(text)
    elif sys.argv[1:] not in (["table"], ["check"]):
        sys.exit(__doc__)
    names = platforms((HERE / "table").read_text())
    stored = {file.stem: json.loads(file.read_text()) for file in records.glob("*.json")}
    if unknown := sorted(stored.keys() - names.keys()):
        sys.exit(f"tools/platforms/records has {unknown[0]}.json, but tools/platforms/table has no such platform")
    wanted = with_table(page.read_text(), table(names, stored))
    if sys.argv[1] != "check":
        page.write_text(wanted)
    elif wanted != page.read_text():
        sys.exit("docs/platforms.md differs from tools/platforms/records; run tools/platforms/records.py table")


if __name__ == "__main__":
    main()
