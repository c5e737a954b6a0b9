"""Code that the tests of this folder share: functions that copy the checkout, run commands and skip tests without their
tools, and an oracle for the examples."""

import importlib.util
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
COMPILER = os.environ.get("CXX", "c++")
FLAGS = ["-std=gnu++20", "-ffp-contract=off", "-fno-math-errno"]
CORTEX_M7 = ["-mcpu=cortex-m7", "-mfpu=fpv5-sp-d16", "-mfloat-abi=hard", "-fno-exceptions", "-fno-rtti"]
# If true, no test is skipped: a missing tool makes its test fail.
NOTHING_SKIPPED = os.environ.get("LADON_INTEGRATION_TOOLS") == "all"


def version():
    text = (ROOT / "include/ladon/version.hpp").read_text()
    return ".".join(re.search(rf"#define LADON_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH"))


def need(what, there):
    """Returns a decorator that skips a test, with a message, if the tool `what` is missing."""
    return unittest.skipUnless(there or NOTHING_SKIPPED, f"{what} is not installed")


def need_module(name):
    return need(f"Python's {name}", importlib.util.find_spec(name))


def need_command(name):
    return need(name, shutil.which(name))


def run(*command, cwd=None, **environment):
    """Runs a command, which must succeed. Returns its output."""
    done = subprocess.run([str(part) for part in command], cwd=cwd, env={**os.environ, **environment}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}\nended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def copy_of_checkout(folder):
    """Copies the checkout as a user has it, without build results. Returns the folder."""
    built = shutil.ignore_patterns("build", "dist", "node_modules", ".git", ".cache", ".pio", "__pycache__")
    return shutil.copytree(ROOT, folder, ignore=built)


def machine_of(program):
    """Returns e_machine of an ELF file: 40 is Arm, 62 is x86-64."""
    return int.from_bytes(program.read_bytes()[18:20], "little")


class InFolder(unittest.TestCase):
    """A test case whose tests each have a temporary folder, `self.folder`."""

    def setUp(self):
        # Resolves symbolic links, because PlatformIO and CMake print paths without symbolic links.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ladon-")).resolve()
        self.addCleanup(shutil.rmtree, self.folder)


def numbers(count, seed):
    """Returns the pseudo-random numbers with which examples/platformio and examples/arduino fill arrays."""
    result = []
    for _ in range(count):
        seed = (seed * 1664525 + 1013904223) % 2**32
        result.append(((seed >> 24) - 128) / 512)
    return result


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def attention_of_examples(tokens=8, model=16, heads=2):
    """Returns the first output feature of the last token, for the weights and inputs of the examples. Under the causal
    mask, the last token sees all tokens."""
    in_weight, in_bias = numbers(3 * model * model, 1), numbers(3 * model, 2)
    out_weight, out_bias = numbers(model * model, 3), numbers(model, 4)
    x = numbers(tokens * model, 5)
    rows = [x[t * model:(t + 1) * model] for t in range(tokens)]
    projected = [[dot(in_weight[r * model:(r + 1) * model], row) + in_bias[r] for r in range(3 * model)]
                 for row in rows]
    width, concat = model // heads, []
    for head in range(heads):
        query, key, value = (slice(part * model + head * width, part * model + (head + 1) * width) for part in range(3))
        scores = [dot(projected[-1][query], token[key]) / math.sqrt(width) for token in projected]
        weights = [math.exp(score - max(scores)) for score in scores]
        concat += [dot(weights, column) / sum(weights) for column in zip(*(token[value] for token in projected))]
    return dot(out_weight[:model], concat) + out_bias[0]


def main():
    unittest.main(verbosity=2, argv=sys.argv)
