"""A case measured: all contestants in alternating rounds, with the ceiling between any two."""

import contextlib
import pathlib
import tempfile
import time

from ladon_bench.peers.cases import expected, numbers, write_numbers
from ladon_bench.peers.contestant import CHAIN, Contestant
from ladon_bench.process import Failure, say

SHORT_PATIENCE = 0.2  # seconds, while forms are tried


def measure(case, commands, options):
    """A row of figures: every round's seconds of everyone, and the peak beside them."""
    with tempfile.TemporaryDirectory(prefix="ladon-bench-") as folder:
        work = pathlib.Path(folder)
        given = numbers(case)
        places = write_numbers(given, work / "numbers")
        wanted = {layers: expected(case, given, layers) for layers in ({1, CHAIN} if case.chained else {1})}
        start = lambda key, command: [Contestant(key, command, case, places, work, options.cores)]
        contestants = race(start, commands, wanted, options)
        return row_of(case, contestants), contestants


def race(start, commands, wanted, options):
    """All that start(key, command) gives for each peer, after their rounds; who can't start or fails is left out."""
    contestants = []
    try:
        for key in list(commands):
            try:
                contestants.extend(start(key, commands[key]))
            except Failure as failure:
                if key == "ladon":
                    raise
                say(f"{key} is left out: {failure}")
                del commands[key]  # of all cases: what it needs is not installed
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
    """The seconds that a case may still wait for the core to be ours alone, and make rounds anew."""

    def __init__(self, seconds):
        self.left = seconds

    @contextlib.contextmanager
    def spent(self):
        start = time.monotonic()
        yield
        self.left -= time.monotonic() - start


def one_round(one, ceiling, before, patience, seconds):
    """A round with nobody else on the core before and after it, and no other process within; or the last that patience
    allowed.

    Returns the peak after it, which is the one before the next.
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
    """Of this case; without Ladon there is nothing to compare with."""
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
            "flops": case.flops,
            "contestants": [one.figures() for one in contestants]}
