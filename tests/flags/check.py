"""check.py COMPILER INCLUDE [--clang] [--few]: tests Ladon's headers with flags that change the meaning of float arithmetic.

Compiles program.cpp with each set of flags. The program must be right, or the compiler must print an error of Ladon
that names one of the flags. With LADON_DETERMINISTIC, -ffp-contract=fast must not change a bit. --few joins flags that
do not depend on each other into one program, and compiles each #pragma at one place only.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

PROGRAM = pathlib.Path(__file__).resolve().parent / "program.cpp"
# -Wfatal-errors: the compiler reads nothing behind an error of Ladon.
BASE = "-std=c++20 -O1 -Wfatal-errors -march=native -DNDEBUG -DLADON_CONSTANT_EVALUATION=0".split()
ASSOCIATIVE = "-fassociative-math -fno-signed-zeros -fno-trapping-math"
FLAGS = ["", "-funsafe-math-optimizations", ASSOCIATIVE, "-ffast-math", "-ffast-math -fno-finite-math-only",
         "-ffinite-math-only", "-Ofast", "-freciprocal-math", "-frounding-math", "-mno-fma", "-DFLUSH=1",
         f"-march=x86-64 {ASSOCIATIVE}", f"-DLADON_ARRAY_LANES=4 {ASSOCIATIVE}"]
FEW = ["-ffast-math", "-ffinite-math-only", "-Ofast", "-ffast-math -fno-finite-math-only",
       f"-DLADON_ARRAY_LANES=4 {ASSOCIATIVE}", "-freciprocal-math -frounding-math -mno-fma -DFLUSH=1"]
OF_GCC = ["-mfpmath=387"]
OF_CLANG = ["-fno-honor-nans"]
PRAGMAS_OF_GCC = ['GCC optimize("Ofast")', 'GCC optimize("associative-math,no-signed-zeros,no-trapping-math")']
PRAGMAS_OF_CLANG = ["clang fp reassociate(on)", "clang fp contract(fast)", "float_control(precise, off)"]


def run(given, folder, flags, before=""):
    """Returns an error or "", and the output of the program."""
    source, program = pathlib.Path(folder, "source.cpp"), pathlib.Path(folder, "program")
    source.write_text(f'{before}\n#include "{PROGRAM}"\n')
    made = subprocess.run([given.compiler, *BASE, *flags.split(), f"-I{given.include}", source, "-o", program],
                          capture_output=True, text=True)
    if made.returncode:
        message = re.search(r"error: .*ladon: .*", made.stderr)
        names = re.findall(r"-[mfO][\w-]+", flags)
        named = message and any(name in message[0] for name in names)
        return "" if named else "the error does not name the flag:\n" + made.stderr[:2000], "an error that names it"
    done = subprocess.run([program], capture_output=True, text=True)
    return f"exit status {done.returncode}" if done.returncode else "", done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("compiler")
    parser.add_argument("include")
    parser.add_argument("--clang", action="store_true")
    parser.add_argument("--few", action="store_true")
    given = parser.parse_args()
    pragmas = PRAGMAS_OF_CLANG if given.clang else PRAGMAS_OF_GCC
    cases = [(flags, "") for flags in (FEW if given.few else FLAGS) + (OF_CLANG if given.clang else OF_GCC)]
    before = [("-O2", f"#pragma {pragma}") for pragma in pragmas]
    behind = [("-O2", f"#include <ladon/ladon.hpp>\n#pragma {pragma}") for pragma in pragmas]
    cases += before[:1] + behind[1:2] if given.few else before + behind
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for flags, before in cases:
            error, output = run(given, folder, flags, before)
            failed += bool(error)
            print(f"{flags} {before}: {error or 'right'}\n{output}", flush=True)
        bits = [run(given, folder, f"-O2 -DLADON_DETERMINISTIC=1 -ffp-contract={value}") for value in ("off", "fast")]
    print(f"deterministic: {bits}")
    failed += bits[0] != bits[1] or bool(bits[0][0])
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
