"""compare --revision NAME --commit HASH --isa NAME --programs REVISION'S WORK_TREE'S [--rounds N] [--filter REGEX]
[--core N] [--json FILE]

Runs ladon_bench of a revision and of the work tree in turn on one core, and prints the ratio of their shares of peak
for each row. `./dev bench compare` builds both programs and runs this program.
"""

import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from ladon_bench import whole_file

INNER_ROUNDS = 5  # rounds of a program in one turn
NAMES = ["revision", "work tree"]


def say(text):
    print(f"bench compare: {text}", file=sys.stderr, flush=True)


def pin(core):
    """Pins this process and all processes that it starts to one core."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0)) if core is None else core})
    else:
        say("this system cannot pin a process to a core: the figures are less certain")


class Program:
    """A build of ladon_bench."""

    def __init__(self, name, path, regex):
        self.name, self.command = name, [str(path), f"--benchmark_filter={regex}"]
        quick = ["--rounds", str(INNER_ROUNDS), "--patience", "0"]
        listed = subprocess.run([*self.command, *quick, "--benchmark_list_tests=true"], capture_output=True)
        if listed.returncode == 0:
            self.command += quick
        else:
            say(f"ladon_bench of the {name} has no --rounds and --patience, so it takes longer")

    def run(self):
        """Returns the share of peak of each row."""
        with tempfile.TemporaryDirectory(prefix="ladon-bench-") as folder:
            file = pathlib.Path(folder) / "figures"
            done = subprocess.run([*self.command, "--json", str(file)], stdout=subprocess.DEVNULL)
            if done.returncode != 0:
                raise SystemExit(f"bench compare: ladon_bench of the {self.name} failed: status {done.returncode}")
            return shares(json.loads(file.read_text()))


def shares(measured):
    """Returns {row: share of peak} from the JSON of ladon_bench."""
    return {f"{kind}/{row['tokens']},{row['model']},{row['heads']}/{row['mask']}": row["share_of_peak"]
            for key, kind in (("rows", "attention"), ("encoder_layers", "encoder_layer")) for row in measured[key]}


def alternate(programs, rounds):
    """Returns {row: [(share of the revision, share of the work tree), ...]}, one pair for each round.

    The programs take turns to run first, so that a drift of the machine's speed affects both programs equally.
    """
    pairs = {}
    for round_ in range(rounds):
        order = programs if round_ % 2 == 0 else programs[::-1]
        found = {program.name: program.run() for program in order}
        first, second = (found[name] for name in NAMES)
        if round_ == 0:
            for row in sorted(first.keys() ^ second.keys()):
                say(f"{row} is left out: only one of the two programs measures it")
        for row in [row for row in second if row in first]:
            pairs.setdefault(row, []).append((first[row], second[row]))
        say(f"round {round_ + 1} of {rounds}")
    return pairs


def figures(pairs):
    """Returns a row of figures for each measured row: medians, and the median of the rounds' ratios."""
    return [{"name": name, "revision": statistics.median(first for first, _ in shares_),
             "work_tree": statistics.median(second for _, second in shares_),
             "ratio": statistics.median(second / first for first, second in shares_), "shares": shares_}
            for name, shares_ in pairs.items()]


def summary(rows):
    ratios = [row["ratio"] for row in rows]
    return {"geometric_mean": math.exp(statistics.fmean(map(math.log, ratios))), "least": min(ratios)}


def parse():
    parser = argparse.ArgumentParser(prog="dev bench compare", description=__doc__.split("\n\n")[1])
    for name in ("--revision", "--commit", "--isa"):
        parser.add_argument(name, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--programs", required=True, nargs=2, type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=9, help="runs of each program (default: %(default)s)")
    parser.add_argument("--filter", default=".", metavar="REGEX", help="measure only the rows whose names match")
    parser.add_argument("--core", type=int, help="core for both programs (default: the last allowed core)")
    parser.add_argument("--json", type=whole_file.path, metavar="FILE")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds takes a number of at least 1")
    return options


def main():
    options = parse()
    pin(options.core)
    programs = [Program(name, path, options.filter) for name, path in zip(NAMES, options.programs)]
    rows = figures(alternate(programs, options.rounds))
    if not rows:
        raise SystemExit(f"bench compare: no row that both programs measure matches {options.filter}")
    print(f"{'':34} {options.revision[:12]:>12} {'work tree':>12} {'ratio':>8}")
    for row in rows:
        print(f"{row['name']:34} {100 * row['revision']:11.1f}% {100 * row['work_tree']:11.1f}% {row['ratio']:8.3f}")
    all_rows = summary(rows)
    print(f"geometric mean of the ratios {all_rows['geometric_mean']:.4f}, least {all_rows['least']:.3f}")
    if options.json:
        about = {"revision": options.revision, "commit": options.commit, "isa": options.isa, "rounds": options.rounds}
        whole_file.write(options.json, json.dumps({**about, **all_rows, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
