// SPDX-License-Identifier: Apache-2.0
// Fills the tables of rotary embeddings and of relative positions. kernel.ts imports this file only for kernels that
// need such a table.
import { checkCount, checkLength, checkNumber, checkOptions, product } from "./check.js";
import type { Description } from "./description.js";
import { attempt, fail } from "./fail.js";
import type { ModuleMemory } from "./memory.js";
import { checkStatus } from "./status.js";
import type { RelativeOptions, RotaryOptions } from "./types.js";

type Kind = NonNullable<RotaryOptions["kind"]>;
type Member = keyof RotaryOptions;

/** The kinds in the order of ladon_rotary_kind, and the members that each kind reads. A "?" marks optional members. */
const membersOfKind: Readonly<Record<Kind, readonly (Member | `${Member}?`)[]>> = {
  none: [],
  linear: ["factor"],
  dynamic: ["factor", "originalPositions"],
  llama3: ["factor", "originalPositions", "lowFrequencyFactor?", "highFrequencyFactor?"],
  yarn: ["factor", "originalPositions", "attentionFactor?", "betaFast?", "betaSlow?", "truncate?"],
  longrope: ["factor", "originalPositions", "attentionFactor?", "factors"],
  proportional: ["proportion", "factor?"],
};
const kinds = Object.keys(membersOfKind);

/** The doubles in the C struct ladon_rotary_scaling, in their order. 0 stands for the default. */
const doubles: readonly Member[] = [
  "base",
  "factor",
  "originalPositions",
  "attentionFactor",
  "lowFrequencyFactor",
  "highFrequencyFactor",
  "betaFast",
  "betaSlow",
  "proportion",
];
/** The offsets of members of ladon_rotary_scaling in bytes, and the size of the struct (src/c_kernel/rotary_scaling.hpp). */
const scalingLayout = { kind: 0, doubles: 8, factors: 80, bytes: 96 };

const positive = (name: string, value: unknown): number =>
  checkNumber(name, value) > 0 ? (value as number) : fail("option", name, "a number above 0", value);

/** Returns base and scaling, the arguments of rotary_fill. */
const plainNumbers = (given: RotaryOptions): number[] => {
  checkOptions(given, ["base", "scaling", "offset", "kind"]);
  const { base = 1e4, scaling = 1 } = given;
  return [checkNumber("rotary.base", base), checkNumber("rotary.scaling", scaling)];
};

/** Returns the members of ladon_rotary_scaling: the kind, the doubles, not_truncated, negated, and the factors. */
const scaledNumbers = (given: RotaryOptions, pairs: number): number[] => {
  const { kind, factors = [], truncate = true, negated = false } = given;
  if (!kinds.includes(kind!)) fail("option", "rotary.kind", kinds, kind);
  const members = membersOfKind[kind!];
  checkOptions(given, ["kind", "offset", "base", "negated", ...members.map((name) => name.replace("?", ""))]);
  const numberOf = (name: Member): number =>
    given[name] === undefined && !members.includes(name) ? 0 : positive(`rotary.${name}`, given[name]);
  const numbers = doubles.map(numberOf);
  if (members.includes("factors")) checkLength("rotary.factors", factors, pairs, pairs);
  const ofPairs = Array.from(factors, (factor) => positive("rotary.factors", factor));
  return [kinds.indexOf(kind!), ...numbers, Number(!truncate), Number(Boolean(negated)), ...ofPairs];
};

/** A table of cosines and sines. */
class RotaryTable {
  readonly at: number;
  readonly #scalingAt: number;
  readonly #memory: ModuleMemory;
  readonly #positions: number;
  readonly #pairs: number;
  #content = "";

  constructor(memory: ModuleMemory, { positions, width }: { readonly positions: number; readonly width: number }) {
    this.#memory = memory;
    this.#positions = positions;
    this.#pairs = width / 2;
    this.at = memory.allocate(4 * positions * width).at;
    this.#scalingAt = memory.allocate(scalingLayout.bytes + 8 * this.#pairs).at;
  }

  /** Fills the table, unless its content already belongs to the numbers of `given`. Returns the offset. */
  prepare(given: RotaryOptions): number {
    const isPlain = given?.kind === undefined;
    const numbers = isPlain ? plainNumbers(given) : scaledNumbers(given, this.#pairs);
    const offset = checkCount("rotary.offset", given.offset ?? 0, this.#positions);
    const content = `${numbers}`;
    if (this.#content === content) return offset;
    checkStatus(isPlain ? this.#memory.call("rotary_fill", this.at, ...numbers) : this.#scale(numbers));
    this.#content = content;
    return offset;
  }

  #scale(numbers: readonly number[]): number {
    const at = this.#scalingAt;
    const end = 1 + doubles.length;
    const factorsAt = at + scalingLayout.bytes;
    this.#memory.write(at + scalingLayout.kind, numbers.slice(0, 1), Int32Array);
    this.#memory.write(at + scalingLayout.doubles, numbers.slice(1, end), Float64Array);
    this.#memory.write(at + scalingLayout.factors, [factorsAt, ...numbers.slice(end, end + 2)], Int32Array);
    this.#memory.write(factorsAt, numbers.slice(end + 2), Float64Array);
    return this.#memory.call("rotary_scale", this.at, at);
  }
}

/** The rotary tables of a kernel. A kernel with LAYER_KINDS has one table for each kind of layers. */
export class RotaryTables {
  readonly #tables: readonly RotaryTable[];

  constructor(memory: ModuleMemory, { rotary, options }: Description) {
    const { count = 1 } = options.find(({ name }) => name === "rotary") ?? {};
    this.#tables = Array.from({ length: count }, () => new RotaryTable(memory, rotary!));
  }

  /** The addresses of the tables. */
  get at(): number[] {
    return this.#tables.map(({ at }) => at);
  }

  /** Fills the tables for the option `rotary` of a run. Returns the offset. */
  prepare(given: RotaryOptions | readonly RotaryOptions[] | null | undefined): number {
    const { length } = this.#tables;
    const list = Array.isArray(given) ? given : Array.from({ length }, () => given ?? {});
    checkLength("rotary", list, length, length);
    const [offset = 0, ...others] = this.#tables.map((table, i) => table.prepare(list[i]));
    const other = others.find((one) => one !== offset);
    return other === undefined ? offset : fail("option", "rotary.offset", `${offset}, as of the first kind`, other);
  }
}

/** Returns the table of relative positions that the kernel makes from `bias`. */
export const relativeTable = (
  memory: ModuleMemory,
  { heads, options }: Description,
  bias: ArrayLike<number>,
  given: RelativeOptions = {},
): Float32Array => {
  checkOptions(given, ["causal", "maxDistance"]);
  const { causal = false, maxDistance = 128 } = given;
  const buckets = checkCount("number of buckets, the length of bias / heads,", bias?.length / heads, 65536, causal ? 2 : 4);
  checkLength("bias", bias, buckets * heads, buckets * heads);
  checkCount("maxDistance", maxDistance, 2 ** 31 - 1, Math.floor(buckets / (causal ? 2 : 4)) + 1);
  // `bias` may be a view of the instance's memory. Such a view becomes empty when the memory grows.
  const numbers = attempt("option", () => Float32Array.from(bias), "bias");
  const { shape = [] } = options.find(({ name }) => name === "relative") ?? {};
  const block = memory.allocate(4 * (product(shape) + numbers.length));
  try {
    const biasAt = block.at + 4 * product(shape);
    memory.write(biasAt, numbers);
    checkStatus(memory.call("relative_fill", block.at, biasAt, buckets, Number(Boolean(causal)), maxDistance));
    return memory.floats(block.at, product(shape)).slice();
  } finally {
    memory.release(block);
  }
};
