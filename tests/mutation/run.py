#!/usr/bin/env python3
"""Runs the tests against mutants of the headers: changes of one line that a test should notice.

One build holds all mutants. Each mutated expression becomes a choice between the original and the mutants, and the
environment variable LADON_MUTANT selects a mutant at run time. README.md explains the results.
"""

import argparse
import json
import os
import re
import resource
import shlex
import shutil
import subprocess
import tempfile
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
EXPLAINED = HERE / "explained.txt"
CONSTANT = ["tests/test_constexpr.cpp", "tests/test_shape.cpp", "tests/test_phases.cpp"]


def programs_of(cmake_lists):
    names = re.findall(r"^\s*ladon_add_test\((\w+)\s", cmake_lists, re.M)
    return [f"ladon_{name}" for name in [*names, "deterministic", "preconditions"]]


def one_line(expression):
    return re.sub(r"\s+", " ", re.sub(r"//[^\n]*", "", expression))


def rewrite(text, numbered):
    """Returns `text` with a choice between original and mutants in place of each expression that has mutants."""
    groups = defaultdict(list)
    for number, mutant in numbered:
        groups[mutant.outer].append((number, mutant))

    def render(begin, end, inner):
        out, at = [], begin
        while inner:
            outer = inner[0]
            nested = [o for o in inner[1:] if o[1] <= outer[1]]
            inner = inner[1 + len(nested) :]
            void = any(m.kind == "statement" for _, m in groups[outer])
            wrap = (lambda e: f"static_cast<void>({e})") if void else (lambda e: f"({e})")
            choices = [f"ladon_mutant({n}) ? {wrap(one_line(m.mutated(text)) or '0')} : " for n, m in groups[outer]]
            out += [text[at : outer[0]], "(", *choices, wrap(render(*outer, nested)), ")"]
            at = outer[1]
        return "".join(out) + text[at:end]

    return render(0, len(text), sorted(groups, key=lambda o: (o[0], -o[1])))


class Build:
    def __init__(self, folder, jobs):
        self.source, self.build, self.jobs = folder / "source", folder / "build", jobs
        files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for file in filter(None, files.split("\0")):
            if not file.startswith("include/") and (ROOT / file).is_file():
                self.put(self.source / file, (ROOT / file).read_bytes())
        self.programs = programs_of((ROOT / "tests/CMakeLists.txt").read_text())

    def write(self, mutants, dropped):
        """Writes the mutated headers, except for the dropped mutants."""
        include = self.source / "include/ladon"
        header = (HERE / "mutant.hpp").read_text().replace("LADON_MUTANT_COUNT", str(len(mutants)))
        self.put(include / "mutant.hpp", header)
        by_file = defaultdict(list)
        for number, mutant in enumerate(mutants):
            if number not in dropped:
                by_file[mutant.file].append((number, mutant))
        for path in sorted((ROOT / "include/ladon").rglob("*.hpp")):
            file = str(path.relative_to(ROOT / "include"))
            text = rewrite(path.read_text(), by_file[file])
            if file == "ladon/detail/config/settings.hpp":
                text = text.replace("#pragma once\n", "#pragma once\n#include <ladon/mutant.hpp>\n")
            self.put(self.source / "include" / file, text)

    @staticmethod
    def put(path, content):
        """Writes a file, unless the file already has the content. So ninja compiles only changed files."""
        content = content.encode() if isinstance(content, str) else content
        if not path.exists() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def configure(self, arguments):
        flags = "-w -Wno-narrowing -g0"
        subprocess.run(
            ["cmake", "-S", self.source, "-B", self.build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"]
            + ["-DLADON_TEST_SET=usual", "-DLADON_BUILD_EXAMPLES=OFF", "-DLADON_BUILD_BENCH=OFF"]
            + ["-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", *arguments]
            + [f"-DCMAKE_CXX_FLAGS={flags}"],
            check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip

    def compile(self, *targets):
        """Builds the targets and returns the output of the compiler, or an empty text."""
        command = ["cmake", "--build", self.build, "-j", str(self.jobs), "--target", *targets, "--", "-k", "0"]
        result = subprocess.run(command, capture_output=True, text=True)
        return result.stdout + result.stderr if result.returncode else ""

    def check(self, compiler):
        """Compiles all tests without code generation and returns the compiler's errors. An error that appears later
        costs a whole build."""
        commands = json.loads((self.build / "compile_commands.json").read_text())
        commands = [c for c in commands if re.search("|".join(rf"/{p}\.dir/" for p in self.programs), c["command"])]

        def errors(entry):
            # Compiles with clang++, because -fsyntax-only of g++ instantiates no templates. Leaves out the precompiled
            # headers, because they may be older than the mutated headers.
            command = re.sub(r" -Winvalid-pch -include \S+| -o \S+", " -fsyntax-only", entry["command"])
            command = [compiler, *shlex.split(command)[1:]]
            result = subprocess.run(command, cwd=entry["directory"], capture_output=True, text=True)
            return result.stderr if result.returncode else ""

        with ThreadPoolExecutor(self.jobs) as pool:
            return "".join(pool.map(errors, commands))

    def fails_in_constant_evaluation(self, mutant, text):
        """Returns whether a test that is evaluated at compile time fails with the mutant."""
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(ROOT / "include", folder, dirs_exist_ok=True)
            changed = text[: mutant.begin] + mutant.new + text[mutant.end :]
            Path(folder, mutant.file).write_text(changed)
            command = ["c++", "-std=c++20", "-fsyntax-only", "-w", "-DLADON_ARRAY_LANES=4", f"-I{folder}"]
            command += [f"-I{ROOT}/tests/support"]
            return any(subprocess.run([*command, ROOT / test], capture_output=True).returncode for test in CONSTANT)

    def not_compiling(self, mutants, output, dropped):
        """Returns the numbers of the mutants in lines for which the compiler output reports an error."""
        lines = {(m[1], int(m[2])) for m in re.finditer(r"include/(ladon/[\w/.]+):(\d+):\d+: error", output)}
        found = set()
        for number, mutant in enumerate(mutants):
            text = (self.source / "include" / mutant.file).read_text()
            at = text.find(f"ladon_mutant({number})")
            if at >= 0 and (mutant.file, text.count("\n", 0, at) + 1) in lines:
                found.add(number)
        return found - dropped

    def tests(self):
        """Returns [name, command, regular expression of the output or None] of each test of the programs."""
        show = ["ctest", "--test-dir", self.build, "--show-only=json-v1"]
        listed = json.loads(subprocess.run(show, capture_output=True, text=True, check=True).stdout)["tests"]
        chosen = []
        for test in listed:
            command = test.get("command", [""])
            if Path(command[0]).name in self.programs and Path(command[0]).exists():
                properties = {p["name"]: p["value"] for p in test["properties"]}
                expression = properties.get("PASS_REGULAR_EXPRESSION", [None])[0]
                stop = [] if expression else ["--abort-after=1"]  # doctest stops at the first failure
                chosen.append((test["name"], [*command, *stop], expression))
        return chosen


def run_test(test, limit, **variables):
    """Returns "" if the test passes, or the reason of its failure."""
    _, command, expression = test
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        try:
            status = subprocess.run(
                command, stdout=output, stderr=subprocess.STDOUT, timeout=limit, env={**os.environ, **variables}
            ).returncode
        except subprocess.TimeoutExpired:
            return "time limit"
        if expression:
            output.seek(0)
            return "" if re.search(expression, output.read(1 << 20), re.S) else "output"
        return "" if status == 0 else "signal" if status < 0 else "failure"


def reached_by(tests, folder):
    """Returns, for each test, the set of mutants that the test reaches and the seconds that the test takes."""
    reached, seconds = {}, {}
    for test in tests:
        file = folder / "reached.txt"
        file.unlink(missing_ok=True)
        start = time.monotonic()
        if why := run_test(test, 600, LADON_MUTANTS_REACHED=str(file)):
            print(f"left out, because it fails without a mutant: {test[0]} ({why})")
            continue
        seconds[test[0]] = time.monotonic() - start
        reached[test[0]] = {int(n) for n in file.read_text().split()} if file.exists() else set()
    return reached, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, default=ROOT / "build/mutation", help="folder of the copy and the build")
    parser.add_argument("--mutants", type=int, default=320, help="number of mutants to draw (320)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the drawing (1)")
    parser.add_argument("--jobs", type=int, default=2, help="number of compilers and tests that run at a time (2)")
    parser.add_argument("--files", default="", help="a regular expression: mutate only headers whose path matches")
    parser.add_argument("--compiler", default="clang++", help="a clang++ whose system headers libclang reads")
    parser.add_argument("--cmake", action="append", default=[], help="an argument for CMake, such as -DLADON_ARCH=sse2")
    arguments = parser.parse_args()
    import find  # not above, so that --help needs no libclang

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    include = str(ROOT / "include")
    candidates = [m for m in find.mutants(include, arguments.compiler) if re.search(arguments.files, m.file)]
    mutants = find.sample(candidates, arguments.mutants, arguments.seed)
    texts = {m.file: (ROOT / "include" / m.file).read_text() for m in mutants}
    print(f"{len(mutants)} of {len(candidates)} mutants")

    build = Build(arguments.work, arguments.jobs)
    dropped = set()
    build.write(mutants, dropped)
    build.configure(arguments.cmake)
    while True:
        build.write(mutants, dropped)
        output = build.check(arguments.compiler) or build.compile(*build.programs)
        if not output:
            break
        new = build.not_compiling(mutants, output, dropped)
        if not new:
            raise SystemExit(output[-4000:])
        print("not compiling: " + " ".join(map(str, sorted(new))))
        dropped |= new

    reached, seconds = reached_by(build.tests(), arguments.work)
    tests = [t for t in build.tests() if t[0] in reached]
    kills = Counter()

    def outcome(number):
        if number in dropped:
            return "not compiling"
        chosen = [t for t in tests if number in reached[t[0]]]
        for test in sorted(chosen, key=lambda t: -(kills[t[0]] + 1) / (seconds[t[0]] + 0.1)):
            if why := run_test(test, 5 * seconds[test[0]] + 5, LADON_MUTANT=str(number)):
                kills[test[0]] += 1
                return f"killed: {test[0]}, {why}"
        if build.fails_in_constant_evaluation(mutants[number], texts[mutants[number].file]):
            return "killed: constant evaluation"
        return "survived" if chosen else "not reached"

    names = [f"{m.file} {m.described(texts[m.file])}" for m in mutants]
    report = arguments.work / "report.tsv"
    lines = [line.split("\t") for line in report.read_text().splitlines()] if report.exists() else []
    known = {(int(number), name): result for result, number, _, _, name in lines}
    with ThreadPoolExecutor(arguments.jobs) as pool, report.open("a", buffering=1) as file:

        def judge(number):
            name, mutant = names[number], mutants[number]
            if (number, name) in known:
                return known[number, name]
            result, line = outcome(number), str(mutant.line(texts[mutant.file]))
            file.write("\t".join([result, str(number), line, mutant.kind, name]) + "\n")
            return result

        outcomes = list(pool.map(judge, range(len(mutants))))

    reasons = dict(re.findall(r"^(ladon/.*)\n    (\S+): .*$", EXPLAINED.read_text(), re.M)) if EXPLAINED.exists() else {}
    summary = Counter()
    for name, result in zip(names, outcomes):
        if result in ("survived", "not reached"):
            result += f", {reasons[name]}" if name in reasons else ", unexplained"
            if name not in reasons:
                print(f"unexplained: {name}")
        summary[result.split(":")[0]] += 1
    for result, count in sorted(summary.items()):
        print(f"{count:5} {result}")
    print("kills by test: " + ", ".join(f"{name} {count}" for name, count in kills.most_common()))
    print(f"all results: {report}")


if __name__ == "__main__":
    main()
