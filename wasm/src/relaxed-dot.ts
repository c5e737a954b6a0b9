// SPDX-License-Identifier: Apache-2.0
// Tests how the engine computes i32x4.relaxed_dot_i8x16_i7x16_add_s, the dot product of relaxed int8 kernels. Loaded on
// demand.
// The operands `a` and `b` have 16 bytes, and `c` has 4 lanes of 32 bits. Lane i of the result is c[i] plus the dot
// product of the bytes 4i to 4i + 3 of `a` and `b`. The bytes of `a` are signed. The sum is defined only if the bytes
// of `b` are from 0 to 127. For larger bytes of `b`, the sum depends on the processor's instruction that the engine
// uses.

/**
 * - `"unsigned"`: sums are exact for bytes of `b` from 0 to 255
 * - `"signed"`: sums are exact for bytes of `b` from -128 to 127
 * - `"saturating"`: sums are exact only for bytes of `b` from 0 to 127
 * - `"wrong"`: sums are wrong even for bytes of `b` from 0 to 127. Unoptimised code in Node 20 computes such sums.
 */
export type RelaxedDot = "unsigned" | "signed" | "saturating" | "wrong";

/**
 * A small WebAssembly module that runs the instruction. In its memory, `a` is at address 0, `b` at 16 and `c` at 32.
 * `dots` runs the instruction `count` times: each time, it adds the dot products of `a` and `b` to four sums, which
 * begin as `c`. Then `dots` writes the sums to address 48.
 */
export interface Probe {
  readonly memory: { readonly buffer: ArrayBuffer };
  dots(count: number): void;
}

const probeCode = [
  0, 97, 115, 109, 1, 0, 0, 0, // magic, version
  1, 5, 1, 96, 1, 127, 0, // a type: (i32) -> ()
  3, 2, 1, 0, // a function of that type
  5, 3, 1, 0, 1, // a memory of one page
  7, 17, 2, 6, 109, 101, 109, 111, 114, 121, 2, 0, 4, 100, 111, 116, 115, 0, 0, // exports: "memory", "dots"
  10, 53, 1, 51, 1, 1, 123, // the code of the function, with one local v128: the sum
  65, 32, 253, 0, 4, 0, 33, 1, // sum = v128.load(32)
  3, 64, // loop
  65, 0, 253, 0, 4, 0, //   v128.load(0)
  65, 16, 253, 0, 4, 0, //   v128.load(16)
  32, 1, 253, 147, 2, 33, 1, //   sum = i32x4.relaxed_dot_i8x16_i7x16_add_s(a, b, sum)
  32, 0, 65, 1, 107, 34, 0, 13, 0, //   count = count - 1; branch to the loop unless count is 0
  11, // end of the loop
  65, 48, 32, 1, 253, 11, 4, 0, // v128.store(48, sum)
  11, // end of the function
];

/** The bytes of `a` and `b`, the operands of a call of the instruction. */
interface Operands {
  readonly a: Int8Array;
  readonly b: Uint8Array | Int8Array;
}

const operands = (aOf: (i: number) => number, bOf: (i: number) => number): Operands => ({
  a: Int8Array.from({ length: 16 }, (_, i) => aOf(i)),
  b: Uint8Array.from({ length: 16 }, (_, i) => bOf(i)),
});

const defined: readonly Operands[] = [
  operands((i) => i - 8, (i) => 8 * i),
  operands(() => -128, () => 127),
  operands((i) => 127 - 17 * i, (i) => 127 - i),
];
/** Operands for which the sums depend on the engine, because bytes of `b` are above 127. */
const engineDefined: readonly Operands[] = [
  operands(() => 127, () => 255),
  operands((i) => 127 - 16 * i, (i) => 128 + 5 * i),
];

/**
 * Computes the sums that `dots(count)` must write if `c` is `start`. Sum i is start[i] plus `count` times the dot
 * product of the bytes 4i to 4i + 3 of `a` and `b`.
 */
const exactSums = ({ a, b }: Operands, start: Int32Array, count: number): Int32Array =>
  start.map((sum, lane) => {
    for (let i = 4 * lane; i < 4 * lane + 4; ++i) sum += Math.imul(count, a[i]! * b[i]!);
    return sum;
  });

/** Returns the operands, with the bytes of `b` as signed numbers. */
const asSigned = ({ a, b }: Operands): Operands => ({ a, b: Int8Array.from(b) });

/** Collects the results of dot products, and says in `kind` how the engine computes them. */
class Observations {
  #isRight = true;
  #isUnsigned = true;
  #isSigned = true;

  get kind(): RelaxedDot {
    if (!this.#isRight) return "wrong";
    if (this.#isUnsigned) return "unsigned";
    return this.#isSigned ? "signed" : "saturating";
  }

  /**
   * Computes the dot products of all operands in `defined` and `engineDefined` with the probe. Compares the results
   * with exact sums.
   */
  observe(probe: Probe, count: number): void {
    for (const one of defined) this.#isRight &&= agrees(probe, one, one, count);
    for (const one of engineDefined) {
      this.#isUnsigned &&= agrees(probe, one, one, count);
      this.#isSigned &&= agrees(probe, one, asSigned(one), count);
    }
  }
}

/**
 * Returns true if the sums of `a` and `b` that the probe computes equal the exact sums of `expected`. If `expected` is
 * asSigned({ a, b }), true means that the engine reads the bytes of `b` as signed.
 */
const agrees = (probe: Probe, { a, b }: Operands, expected: Operands, count: number): boolean => {
  const start = Int32Array.of(1, -2, 30000, -40000);
  const { buffer } = probe.memory;
  new Int8Array(buffer).set(a, 0);
  new Int8Array(buffer).set(b, 16);
  new Int32Array(buffer).set(start, 8);
  probe.dots(count);
  return `${new Int32Array(buffer, 48, 4)}` === `${exactSums(expected, start, count)}`;
};

/**
 * The test must cover the optimised code of `dots`, too. V8 requests optimised code after about 220,000 additions,
 * which the first 4 rounds always reach. Another thread optimises the code in less than 2 ms. The pauses after the
 * fourth round take 44 ms together, so the last rounds run optimised code.
 */
const rounds = 8;
const additions = 20000;

/**
 * Finds out how the probe computes dot products. Waits between the calls of `dots`, so that the engine can replace its
 * code by optimised code.
 */
export const classify = async (probe: Probe): Promise<RelaxedDot> => {
  const seen = new Observations();
  seen.observe(probe, 1);
  for (let round = 0; round < rounds && seen.kind !== "wrong"; ++round) {
    await new Promise((resolve) => setTimeout(resolve, 2 * round));
    seen.observe(probe, additions);
  }
  return seen.kind;
};

/** Instantiates the small WebAssembly module that runs the instruction. The engine must support relaxed SIMD. */
export const makeProbe = (): Probe => {
  const module = new WebAssembly.Module(Uint8Array.from(probeCode));
  return new WebAssembly.Instance(module).exports as unknown as Probe;
};

let known: Promise<RelaxedDot> | undefined;

/**
 * Some hosts, such as workerd, do not compile modules at run time, so they cannot compile the probe. There, the result
 * is "saturating": if the bytes of `b` are from 0 to 127, the sums are exact on every engine whose code is correct.
 */
const probeEngine = async (): Promise<RelaxedDot> => {
  let probe: Probe;
  try {
    probe = makeProbe();
  } catch {
    return "saturating";
  }
  return classify(probe);
};

/**
 * Finds out how this engine computes dot products. The first call takes about 60 ms, mostly pauses. Later calls return
 * the result of the first call.
 */
export const relaxedDot = (): Promise<RelaxedDot> => (known ??= probeEngine());
