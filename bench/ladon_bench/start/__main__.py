"""start --programs FOLDER [--rounds N] [--shapes 64,128,4 ...] [--core N] [--json FILE]

Measures the time from the start of a process to its first result: Ladon with mapped weights, and other libraries from
Python. `./dev bench start` builds the programs, installs the libraries, and runs this program.
"""

import argparse
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import numpy as np

from ladon_bench import whole_file
from ladon_bench.figures import quantile
from ladon_bench.paths import BENCH
from ladon_bench.peers.contestant import TOLERANCE
from ladon_bench.process import environment, say
from ladon_bench.shapes import texts

SHAPES = texts("start")
FIRST = BENCH / "ladon_bench/start/first.py"  # run as a file, so that the process does not import this package
STEPS = ["started", "imported", "loaded", "first"]


def start(command, folder, core):
    """Starts a process. Returns the seconds from the start of the process to the end of each step. Raises RuntimeError
    for a failure or a wrong result."""
    (folder / "output").unlink(missing_ok=True)
    pin = (lambda: os.sched_setaffinity(0, {core})) if core is not None else None
    begin = time.monotonic()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=pin,
                          env=environment(1))
    if done.returncode != 0:
        raise RuntimeError((done.stderr.strip().splitlines() or [f"ended with status {done.returncode}"])[-1])
    stamps = json.loads(done.stdout.splitlines()[-1])
    wanted = np.load(folder / "wanted.npy")
    output = np.fromfile(folder / "output", dtype=np.float32).reshape(wanted.shape)
    error = np.abs(output - wanted).max() / np.abs(wanted).max()
    if not error <= TOLERANCE:
        raise RuntimeError(f"wrong numbers: off by {error:.1e} of the largest")
    return {step: stamps[step] - begin for step in STEPS}


def ladon(programs, name):
    """Returns the description of Ladon as a library: the size of the program, and the size of the kernel's code and
    constants."""
    report = subprocess.run(["cmake", "--build", str(programs), "--target", f"attention_{name}_report"],
                            capture_output=True, text=True, check=True)
    code, constants = re.search(rf"attention_{name}_run +(\d+) +(\d+)", report.stdout + report.stderr).groups()
    return {"name": "Ladon", "versions": {}, "bytes": (programs / f"start_{name}").stat().st_size,
            "kernel_bytes": int(code) + int(constants)}


def measure(shape, options):
    name = shape.replace(",", "_")
    with tempfile.TemporaryDirectory(prefix="ladon-start-") as temporary:
        folder = pathlib.Path(temporary)
        prepared = subprocess.run([sys.executable, "-m", "ladon_bench.start.prepare", shape, folder],
                                  stdout=subprocess.PIPE, text=True, check=True, env=environment(1))
        libraries = {"ladon": ladon(options.programs, name), **json.loads(prepared.stdout.splitlines()[-1])}
        commands = {key: [sys.executable, "-B", str(FIRST), key, str(folder)] for key in libraries}
        commands["ladon"] = [str(options.programs / f"start_{name}"), str(folder / "numbers"), str(folder / "output")]
        times = {key: [] for key in libraries}
        for round_ in range(options.rounds + 1):
            for key in list(times):
                try:
                    seconds = start(commands[key], folder, options.core)
                except RuntimeError as error:
                    if key == "ladon":
                        raise
                    say(f"{shape}: {libraries[key]['name']} is left out: {error}")
                    del times[key]
                    continue
                if round_ > 0:  # the first round only loads files into memory
                    times[key].append(seconds)
    return [{"shape": shape, **libraries[key],
             "seconds": {step: quantile([one[step] for one in some], 0.5) for step in STEPS},
             "all_seconds": [one["first"] for one in some]} for key, some in times.items()]


def line(row):
    steps = "".join(f"{1e3 * row['seconds'][step]:10.2f}" for step in STEPS)
    return f"{row['shape']:12} {row['name']:18}{steps}{row['bytes']:14,}"


def main():
    parser = argparse.ArgumentParser(prog="dev bench start", description=__doc__.split("\n\n")[1])
    parser.add_argument("--programs", required=True, type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=7, help="default: %(default)s")
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=SHAPES)
    parser.add_argument("--core", type=int, help="core for all processes (default: the last allowed core)")
    parser.add_argument("--json", type=whole_file.path, metavar="FILE")
    options = parser.parse_args()
    if options.core is None and hasattr(os, "sched_getaffinity"):
        options.core = max(os.sched_getaffinity(0))
    print(f"{'':31}" + "".join(f"{step:>10}" for step in STEPS) + f"{'bytes':>14}    (milliseconds)")
    rows = []
    for shape in options.shapes:
        for row in measure(shape, options):
            rows.append(row)
            print(line(row), flush=True)
    if options.json:
        date = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
        whole_file.write(options.json,
                         json.dumps({"date": date, "rounds": options.rounds, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
