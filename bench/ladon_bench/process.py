"""The driver's side of a peer's process."""

import json
import os
import select
import subprocess
import sys

from ladon_bench.paths import BENCH

LONGEST_ANSWER = 900  # seconds; peers with a compiler need long for the largest shapes

def environment(threads):
    """Returns the environment of a process with `threads` threads. With one thread, no thread spins, so that the
    process does not disturb other contestants."""
    count = {name: str(threads) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NPROC")}
    still = {"OMP_WAIT_POLICY": "passive", "KMP_BLOCKTIME": "0"} if threads == 1 else {}
    return {**os.environ, **count, **still, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": str(BENCH)}


class Failure(Exception):
    pass


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


class Process:
    """A process that is pinned to cores. Its stderr goes to the file `log`, and a Failure quotes the last line of this
    file."""

    def __init__(self, command, cores, threads, log):
        self.log = log
        pin = (lambda: os.sched_setaffinity(0, cores)) if cores is not None else None
        try:
            with open(log, "w") as errors:
                self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
                                                bufsize=0, preexec_fn=pin, env=environment(threads))
        except FileNotFoundError:
            raise Failure(f"{command[0]} does not exist") from None
        self.heard = b""

    def ask(self, what, **details):
        try:
            self.process.stdin.write((json.dumps({"do": what, **details}) + "\n").encode())
        except BrokenPipeError:
            raise Failure(self.last_words()) from None
        answer = json.loads(self.line())
        if "error" in answer:
            raise Failure(answer["error"])
        return answer

    def line(self):
        while b"\n" not in self.heard:
            if not select.select([self.process.stdout], [], [], LONGEST_ANSWER)[0]:
                self.process.kill()
                self.process.wait()
                raise Failure(f"no answer in {LONGEST_ANSWER} seconds")
            more = os.read(self.process.stdout.fileno(), 1 << 16)
            if not more:
                raise Failure(self.last_words())
            self.heard += more
        line, _, self.heard = self.heard.partition(b"\n")
        return line

    def last_words(self):
        status = self.process.wait()
        with open(self.log, errors="replace") as file:
            lines = file.read().strip().splitlines()
        return ": ".join([f"ended with status {status}", *lines[-1:]])

    def ended(self):
        return self.process.poll() is not None

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


def python_peers(folder):
    """Returns {NAME: command} for each peer_NAME.py in a folder of the package."""
    return {path.stem.removeprefix("peer_"): [sys.executable, "-m", f"ladon_bench.{folder}.{path.stem}"]
            for path in sorted((BENCH / "ladon_bench" / folder).glob("peer_*.py"))}
