"""all [--quick] [--patience SECONDS] [--only NAME ...] [--browser] [--browser_minilm] [--browser_int8]
    [--browser_minilm_int8] [--browser_keywords] [--firmware] [--peers_zen5] [--peers_int8_zen4] [--minilm_zen5]
    [--minilm_int8_zen4] [--minilm_bfloat16_zen4] [--minilm_int8_avx2] [--tables] [--check]

Runs every benchmark, writes figures/*.json and charts/*.svg, and rewrites the tables of bench/results.md,
docs/comparison.md and README.md between their markers. A part that fails keeps the figures of its last run.
`./dev bench all` runs this program.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

from ladon_bench import tables, whole_file
from ladon_bench.machine import system
from ladon_bench.parts import PARTS
from ladon_bench.paths import BENCH, ROOT

FIGURES = BENCH / "figures"
PAGE = BENCH / "results.md"  # has the tables of all parts
README = ROOT / "README.md"  # has the summary
COMPARISON = ROOT / "docs" / "comparison.md"
COMPARISON_TABLES = {"comparison": tables.comparison, "comparison_int8": tables.comparison_int8,
                     "comparison_keywords": tables.comparison_keywords}


def say(text):
    print(f"bench all: {text}", file=sys.stderr, flush=True)


def cpu():
    try:
        found = re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    except OSError:
        found = None
    return found[1] if found else platform.processor() or None


def environment():
    """Returns the environment without PYTHONSAFEPATH, which the shell sets for this program. With PYTHONSAFEPATH, the
    Python programs of Emscripten cannot import the modules in their own folder."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}


def run(part, quick, patience):
    """Returns the figures of a part, or None if the part failed."""
    about = {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "quick": quick,
             "system": system(), "cpu": cpu(), "load_at_start": os.getloadavg()}
    command = [str(ROOT / "dev"), *part.command, *(part.quick if quick else [])]
    if part.waits and patience is not None:
        command += ["--patience", str(patience)]
    say(" ".join(command[1:]))
    with tempfile.TemporaryDirectory(prefix="ladon-bench-") as folder:
        file = pathlib.Path(folder) / "figures"
        wanted = {"json": ["--json", str(file)], "markdown": ["--markdown", str(file)], "text": []}[part.output]
        done = subprocess.run([*command, *wanted], stdout=subprocess.PIPE if part.output == "text" else None, text=True,
                              env=environment())
        if done.returncode != 0:
            say(f"{part.name} failed: status {done.returncode}")
            return None
        if part.output == "json":
            return {"run": about, **json.loads(file.read_text())}
        return {"run": about, part.output: file.read_text() if part.output == "markdown" else done.stdout}


def save(name, measured):
    """Writes each row of figures in a separate line, so that differences between commits are readable."""
    lines = [f" {json.dumps(key)}: " + ("[\n" + ",\n".join(f"  {json.dumps(one)}" for one in value) + "\n ]"
                                       if isinstance(value, list) and value and isinstance(value[0], dict)
                                       else json.dumps(value)) for key, value in measured.items()]
    FIGURES.mkdir(exist_ok=True)
    whole_file.write(FIGURES / f"{name}.json", "{\n" + ",\n".join(lines) + "\n}\n")


def known_figures():
    return {part.name: json.loads(file.read_text()) for part in PARTS
            if (file := FIGURES / f"{part.name}.json").is_file()}


def between_markers(text, name, block):
    """Returns the text with the block between the markers `name`. Raises ValueError if the markers do not occur exactly
    once."""
    marked = re.compile(rf"(<!-- figures: {name} -->\n).*?(<!-- end -->)", re.S)
    text, times = marked.subn(lambda match: f"{match[1]}\n{block}\n\n{match[2]}", text)
    if times != 1:
        raise ValueError(f"{times} places for the figures {name}, expected 1")
    return text


def page(text, known):
    """Returns bench/results.md with the table of each part. A part without figures keeps its text."""
    for part in PARTS:
        if part.name not in known:
            continue
        pictures = [f"![{shown}](charts/{name}.svg)" for name, shown in part.pictures.items()
                    if (BENCH / "charts" / f"{name}.svg").is_file()]
        block = "\n\n".join([*pictures, tables.about(known[part.name]), part.table(known)])
        text = between_markers(text, part.name, block)
    return text


def written(known):
    """Returns {file: text} for all files with tables. The tables in the texts show the figures `known`."""
    comparison = COMPARISON.read_text()
    for name, made in COMPARISON_TABLES.items():
        comparison = between_markers(comparison, name, made(known))
    return {PAGE: page(PAGE.read_text(), known),
            README: between_markers(README.read_text(), "summary", tables.summary(known)), COMPARISON: comparison}


def check():
    """Returns 1 and reports the files whose tables differ from the stored figures. Returns 0 if no table differs."""
    wrong = [file for file, text in written(known_figures()).items() if text != file.read_text()]
    for file in wrong:
        say(f"{file.relative_to(ROOT)} differs from bench/figures: run ./dev bench all --tables")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(prog="dev bench all", description=__doc__.split("\n\n")[1])
    parser.add_argument("--quick", action="store_true", help="fewer rounds and shapes")
    parser.add_argument("--patience", type=float, metavar="SECONDS",
                        help="longest wait of a case with other libraries for an undisturbed core")
    parser.add_argument("--only", nargs="+", choices=[part.name for part in PARTS], metavar="NAME",
                        help="run only these parts: " + ", ".join(part.name for part in PARTS))
    parser.add_argument("--tables", action="store_true", help="measure nothing: rewrite charts and tables")
    parser.add_argument("--check", action="store_true", help="only compare the tables with the stored figures")
    for part in PARTS:
        if not part.always:
            parser.add_argument(f"--{part.name}", action="store_true", help="also run this part")
    options = parser.parse_args()
    if options.check:
        return check()
    failed = []
    for part in [] if options.tables else PARTS:
        chosen = part.name in options.only if options.only else part.always or getattr(options, part.name)
        if not chosen:
            continue
        measured = run(part, options.quick, options.patience)
        if measured is None:
            failed.append(part.name)
        else:
            save(part.name, measured)
    known = known_figures()
    # The pictures show the parts that always run, and not those of other machines.
    shown = [FIGURES / f"{part.name}.json" for part in PARTS if part.always and part.name in known]
    drawn = subprocess.run([ROOT / "dev", "bench", "charts", *shown])
    if drawn.returncode != 0:
        failed.append("charts")
    for file, text in written(known).items():
        whole_file.write(file, text)
    if failed:
        say(f"failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
