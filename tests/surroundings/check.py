"""check.py COMPILER OBJDUMP INCLUDE SHAPES [--few | --wide] [--jobs N]: tests that no surrounding code costs speed.

Compiles the shapes of the file SHAPES in the surroundings of surroundings.cpp, and disassembles them. An innermost loop
of a tile that stores a vector on the stack is an error: a sum then has no register. A product that does not begin at a
cache line is an error, too. --few compiles one shape, and --wide compiles every shape with every precision and
optimisation.
"""

import argparse
import concurrent.futures
import itertools
import json
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent / "surroundings.cpp"
FLAGS = "-std=c++20 -DNDEBUG -DLADON_CONSTANT_EVALUATION=0 -ffp-contract=off -fno-math-errno".split()
# -mtune=znver3: g++ 12 then keeps general registers in vector registers that seem to be free.
WIDE = "-march=x86-64-v4 -mavx512vnni -mavx512bf16 -mtune=znver3"
AVX2 = "-march=x86-64-v3 -mtune=znver3"
SURROUNDINGS = (1, 2, 3, 4)
# Functions with sums on the stack in every surrounding: printed, but no error. Under a causal mask, clang++ 19 spills
# pairs of bfloat16 numbers, and g++ 12 at -O2 floats.
KNOWN = re.compile(r"\bweighted_sum_of_scores<")

PRODUCT = re.compile(r"(\.text\.\S*6detail7productI\S*) .*2\*\*(\d+)")  # the section of a function
MULTIPLY_ADD = re.compile(r"vfn?m(add|sub)\d*ps|vpdpbusds?|vpmaddwd|vdpbf16ps|mulps")
BROADCAST = re.compile(r"v?p?broadcast|shufps|1to")
STORE = re.compile(r"%[xyz]mm\d+,-?(?:0x[0-9a-f]+)?\(%r([sb]p)\)$")


def functions(objdump, path):
    """Yields (name, instructions) of each function. An instruction is (address, mnemonic, operands)."""
    text = subprocess.run([objdump, "-d", "-C", "--no-show-raw-insn", path], capture_output=True, text=True, check=True)
    name, lines = "", []
    for line in text.stdout.splitlines():
        if line.endswith(">:"):
            yield name, lines
            name, lines = line.split(" ", 1)[1][1:-2], []
        elif body := re.match(r"\s*([0-9a-f]+):\s+(\S+)\s*(.*)$", line):
            lines.append((int(body[1], 16), body[2], body[3].strip()))
    yield name, lines


def innermost_loops(lines):
    index = {address: i for i, (address, _, _) in enumerate(lines)}
    jumps = [(i, index.get(int(o.split()[0], 16), i + 1)) for i, (_, m, o) in enumerate(lines)
             if m.startswith("j") and re.match(r"[0-9a-f]+ ", o)]
    loops = [(to, i) for i, to in jumps if to <= i]
    for begin, end in loops:
        if not any(begin <= b and e <= end and (b, e) != (begin, end) for b, e in loops):
            yield lines[begin:end + 1]


def is_tile(loop):
    """Whether a loop only multiplies and adds, with broadcast weights. Exponentials also subtract."""
    if any(mnemonic in ("vsubps", "subps", "call") for _, mnemonic, _ in loop):
        return False
    adds = sum(1 for _, mnemonic, _ in loop if MULTIPLY_ADD.fullmatch(mnemonic))
    broadcasts = sum(1 for _, mnemonic, operands in loop if BROADCAST.search(mnemonic + operands))
    return adds >= 8 and 4 * broadcasts >= adds


def stores_on_stack(loop, framed):
    """Counts stores of vectors on the stack. %rbp points to the stack if the function has a frame."""
    return sum(1 for _, _, operands in loop if (place := STORE.search(operands)) and (place[1] == "sp" or framed))


def errors_of(objdump, path):
    """Returns the numbers of products and of loops of tiles, and a line for each product that does not begin at a cache
    line, and for each loop with a sum on the stack."""
    headers = subprocess.run([objdump, "-h", "-w", path], capture_output=True, text=True, check=True).stdout
    products = PRODUCT.findall(headers)
    loops, errors = 0, [f"  {name[:120]} is aligned to 2**{power}" for name, power in products if int(power) < 6]
    for name, lines in functions(objdump, path):
        framed = any(m == "mov" and o == "%rsp,%rbp" for _, m, o in lines)
        for loop in filter(is_tile, innermost_loops(lines)):
            loops += 1
            if count := stores_on_stack(loop, framed):
                errors.append(f"  {len(loop)} instructions, {count} stores on the stack, at {loop[0][0]:x} in "
                              f"{name[:120]}")
    return len(products), loops, errors


def cases(shapes, few, wide):
    """Yields (shape, precision, whether it is a layer, surrounding, flags)."""
    attention, layers = shapes["attention"], shapes["encoder_layer"]
    usual = shapes["quick"][0]
    if wide:
        blocks = [(shape, 0) for shape in attention] + [(shape, 1) for shape in layers]
        for (shape, layer), precision, at, opt in itertools.product(
                blocks, ("Float32", "Int8", "Pairs"), SURROUNDINGS, ("-O2", "-O3")):
            yield shape, precision, layer, at, f"{opt} {WIDE}"
            if precision == "Float32":
                yield shape, precision, layer, at, f"{opt} {AVX2}"
        return
    if few:
        yield usual, "Float32", 0, 3, f"-O3 {WIDE}"
        yield usual, "Int8", 0, 4, f"-O3 {WIDE}"
        yield usual, "Float32", 1, 4, f"-O2 {WIDE}"
        return
    # Each surrounding, and some shapes in surroundings 3 and 4, which have the largest functions.
    places = {tuple(shape): 3 + i % 2 for i, shape in enumerate(attention[::3])}
    for shape, at in [*places.items(), *((tuple(usual), at) for at in SURROUNDINGS)]:
        yield shape, "Float32", 0, at, f"-O3 {WIDE}"
    yield usual, "Int8", 0, 3, f"-O3 {WIDE}"
    yield usual, "Pairs", 0, 4, f"-O2 {WIDE}"
    yield usual, "Float32", 0, 4, f"-O2 {AVX2}"
    yield usual, "Float32", 1, 4, f"-O2 {WIDE}"


def check(job):
    given, folder, number, (shape, precision, layer, at, flags) = job
    path = pathlib.Path(folder, f"{number}.o")
    macros = [f"-D{name}={value}" for name, value in zip(
        ("TOKENS", "MODEL", "HEADS", "PRECISION", "LAYER", "SURROUNDING"), (*shape, precision, layer, at))]
    made = subprocess.run([given.compiler, *FLAGS, *flags.split(), f"-I{given.include}", *macros, "-c", SOURCE,
                           "-o", path],
                          capture_output=True, text=True)
    if made.returncode:
        return 0, 0, [made.stderr[:2000]], ""
    products, loops, errors = errors_of(given.objdump, path)
    path.unlink()
    block = "encoder layer" if layer else "attention"
    return products, loops, errors, f"{block} {tuple(shape)}, {precision}, surrounding {at}, {flags}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("compiler", "objdump", "include", "shapes"):
        parser.add_argument(name)
    parser.add_argument("--few", action="store_true")
    parser.add_argument("--wide", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    compiled = products = loops = bad = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        every = cases(json.loads(pathlib.Path(given.shapes).read_text()), given.few, given.wide)
        jobs = ((given, folder, i, case) for i, case in enumerate(every))
        for new_products, new_loops, errors, name in pool.map(check, jobs):
            compiled, products, loops = compiled + 1, products + new_products, loops + new_loops
            bad += any(not KNOWN.search(error) for error in errors)
            if errors:
                print(name, *errors, sep="\n", flush=True)
    print(f"{compiled} programs with {products} products and {loops} loops of tiles; {bad} programs have errors")
    sys.exit(bad > 0 or loops == 0 or products == 0)


if __name__ == "__main__":
    main()
