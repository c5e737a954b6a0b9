"""The shared parts of the drivers that compare Ladon with other libraries: options, files and exit status."""

import argparse
import json
import pathlib
import sys

from ladon_bench import whole_file
from ladon_bench.peers.contestant import wrong_numbers
from ladon_bench.process import Failure, say


def add_arguments(parser, rounds, seconds):
    parser.add_argument("--programs", required=True, type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=rounds, help="default: %(default)s")
    parser.add_argument("--seconds", type=float, default=seconds, help="seconds of a round (default: %(default)s)")
    parser.add_argument("--patience", type=float, default=60, metavar="SECONDS",
                        help="time of a case for repeating disturbed rounds (default: %(default)s)")
    parser.add_argument("--core", type=int, help="the last core for the contestants (default: the last allowed core)")
    parser.add_argument("--json", type=whole_file.path, metavar="FILE")
    parser.add_argument("--markdown", type=whole_file.path, metavar="FILE")


def save(figures, options, markdown):
    """Writes the requested files. The drivers call this function after each case, so that an interrupted run of hours
    keeps its figures."""
    if options.json:
        whole_file.write(options.json, json.dumps(figures, indent=1) + "\n")
    if options.markdown:
        whole_file.write(options.markdown, markdown(figures))


def run(main):
    """Runs a driver. The exit status is 1 if a result was wrong, or if nothing could be measured."""
    try:
        main()
    except Failure as failure:
        say(failure)
        sys.exit(1)
    for wrong in wrong_numbers:
        say(f"wrong numbers: {wrong}")
    sys.exit(1 if wrong_numbers else 0)
