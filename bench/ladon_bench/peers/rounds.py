"""Measures a case: all contestants in alternating rounds, with the peak between two contestants."""

import contextlib
import pathlib
import tempfile
import time

from ladon_bench.peers.cases import expected, numbers, write_numbers
from ladon_bench.peers.contestant import CHAIN, Contestant
from ladon_bench.process import Failure, say

SHORT_PATIENCE = 0.2  # seconds to wait for an undisturbed core before a variant of a library is tried


def measure(case, commands, options):
    """Measures one case. Returns a row of figures and the contestants. The row has the seconds and the peak of each
    round and contestant."""
    with tempfile.TemporaryDirectory(prefix="ladon-bench-") as folder:
        work = pathlib.Path(folder)
        given = numbers(case)
        places = write_numbers(given, work / "numbers")
        wanted = {layers: expected(case, given, layers) for layers in ({1, CHAIN} if case.chained else {1})}
        start = lambda key, command: [Contestant(key, command, case, places, work, options.cores)]
        contestants = race(start, commands, wanted, options)
        return row_of(case, contestants), contestants


def race(start, commands, wanted, options):
    """Runs the rounds of all contestants, and returns the contestants. start(key, command) yields the contestants of a
    peer. A contestant that cannot start or fails is left out."""
    contestants = []
    try:
        for key in list(commands):
            try:
                contestants.extend(start(key, commands[key]))
            except Failure as failure:
                if key == "ladon":
                    raise
                say(f"{key} is left out: {failure}")
                del commands[key]  # leaves the peer out of all later cases: its packages are not installed
        for one in list(contestants):
            with left_out_if_it_fails(one, contestants):
                one.choose_form(wanted, options.seconds,
                                lambda: contestants[0].process.ask("quiet", seconds=SHORT_PATIENCE))
        alternate(contestants, options)
    finally:
        for one in contestants:
            one.process.end()
    return contestants


def alternate(contestants, options):
    ceiling, patience = contestants[0].process, Patience(options.patience)
    for _ in range(options.rounds):
        before = ceiling.ask("peak")
        for one in list(contestants):
            with left_out_if_it_fails(one, contestants):
                before = one_round(one, ceiling, before, patience, options.seconds)


class Patience:
    """The remaining seconds in which a case may wait for a quiet core and repeat rounds."""

    def __init__(self, seconds):
        self.left = seconds

    @contextlib.contextmanager
    def spent(self):
        start = time.monotonic()
        yield
        self.left -= time.monotonic() - start


def one_round(one, ceiling, before, patience, seconds):
    """Measures one round of a contestant, and adds its figures. A disturbed round is repeated while patience is left.

    Returns the peak after the round, which is the peak before the next round.
    """
    taken = one.round(seconds)
    after = ceiling.ask("peak")
    alone = lambda: before["quiet"] and after["quiet"] and not one.interrupted
    while not alone() and patience.left > 0:
        with patience.spent():
            ceiling.ask("quiet", seconds=patience.left)
            before = ceiling.ask("peak")
            taken = one.round(seconds)
            after = ceiling.ask("peak")
    one.seconds.append(taken)
    one.peaks.append((before["gflops"] + after["gflops"]) / 2)
    one.disturbed.append(not alone())
    return after


@contextlib.contextmanager
def left_out_if_it_fails(one, contestants):
    """Leaves the contestant out of this case after a Failure. Raises the Failure if the contestant is Ladon, because
    Ladon is needed for comparison."""
    try:
        yield
    except Failure as failure:
        if one.key == "ladon":
            raise
        say(f"{one.title}: {one.name} is left out: {failure}")
        contestants.remove(one)
        one.process.end()


def row_of(case, contestants):
    return {"kind": case.kind, "tokens": case.tokens, "model": case.model, "heads": case.heads, "mask": case.mask,
            "precision": case.precision, "flops": case.flops,
            "contestants": [one.figures() for one in contestants]}
