import type { Description, TensorEntry } from "./description.js";
import { fail } from "./errors.js";

/** A tensor in a block of memory, whatever it came from. */
export interface Tensor {
  /** Bytes from the block's begin. */
  readonly begin: number;
  /** In numbers. */
  readonly length: number;
  /** Undefined: only the length is known. */
  readonly shape?: readonly number[];
  /** Undefined: F32. */
  readonly dtype?: string;
}

export type Tensors = ReadonlyMap<string, Tensor>;

/** Throws where a tensor cannot be read as floats where it lies. */
export const checkFloats = (name: string, { dtype = "F32", begin }: Tensor): void => {
  if (dtype !== "F32" || begin % 4) fail("weights", name, "F32 at a multiple of 4 bytes", `${dtype} at ${begin}`);
};

/** A member of the C function's weights. */
interface Slot {
  /** "3." of a stack's layer 3; "" of what is in no list. */
  readonly layer: string;
  /** "attention." of an attention in a layer. */
  readonly attention: string;
  readonly part: string;
  readonly suffix: string;
  readonly shape: readonly number[];
  /** So many pointers, to equal shares of the tensor: one a head. */
  readonly pointers: number;
}

const slotsOf = (layer: string, entries: readonly TensorEntry[] = []): Slot[] =>
  entries.map(([member, ...extents]) => {
    const [, attention = "", part, suffix, heads] = /^(attention\.)?(\w+)_([a-z]+)(?:\[(\d+)])?$/.exec(member)!;
    const shape = heads ? [+heads, ...extents] : extents;
    return { layer, attention, part: part!, suffix: suffix!, shape, pointers: +(heads ?? 1) };
  });

/** All members, in the order of the C struct. */
const allSlots = ({ layers, layer, weights }: Description): Slot[] => {
  const own = slotsOf("", weights);
  if (!layers) return [...slotsOf("", layer), ...own];
  return [...Array.from({ length: layers }, (_, i) => slotsOf(`${i}.`, layer)).flat(), ...own];
};

// Where checkpoints have their layers, a layer has its attention, and what the parts are called: first the C members'
// own names, then PyTorch's TransformerEncoder, transformers' BertModel and LlamaModel, as in src/weights, the table
// for C++. What a convention has no name for keeps the first.
const parts = "in_proj query_proj key_proj value_proj out_proj gate linear1 linear2 norm1 norm2 norm".split(" ");
const conventions = [
  "layers. attention. in_proj_ query_proj_ key_proj_ value_proj_ out_proj_ gate_ linear1_ linear2_ norm1_ norm2_ norm_",
  "layers. self_attn. in_proj_ q_proj_ k_proj_ v_proj_ out_proj. gate_ linear1. linear2. norm1. norm2. norm.",
  "encoder.layer. attention. in_proj_ self.query. self.key. self.value. output.dense. gate_ intermediate.dense. " +
    "output.dense. attention.output.LayerNorm. output.LayerNorm. norm_",
  "layers. self_attn. in_proj_ q_proj. k_proj. v_proj. o_proj. mlp.gate_proj. mlp.up_proj. mlp.down_proj. " +
    "input_layernorm. post_attention_layernorm. norm.",
].map((line) => line.split(" "));

const nameOf = ([list, attention, ...names]: string[], prefix: string, slot: Slot, part: string = slot.part): string =>
  prefix + (slot.layer && list + slot.layer) + (slot.attention && attention) + names[parts.indexOf(part)] + slot.suffix;

const product = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

/** Bytes from the block's begin to what each pointer of the C struct points to, or what is lacking. */
interface Found {
  readonly offsets: number[];
  readonly missing: string[];
  readonly used: Set<string>;
}

const search = (slots: Slot[], tensors: Tensors, convention: string[], prefix: string): Found => {
  const found: Found = { offsets: [], missing: [], used: new Set() };
  // The first checkpoints of BERT, born in TensorFlow, call a norm's weight and bias gamma and beta.
  const present = (name: string): string | undefined =>
    [name, name.replace(/weight$/, "gamma").replace(/bias$/, "beta")].find((one) => tensors.has(one));
  for (const slot of slots) {
    let name = present(nameOf(convention, prefix, slot));
    let shape = slot.shape;
    let first = 0;
    const projection = parts.indexOf(slot.part);
    if (!name && projection > 0 && projection < 4 && slot.pointers < 2) {
      // One of query, key and value out of all three.
      const three = slots.filter(
        (one) => one.layer === slot.layer && one.suffix === slot.suffix && /^(query|key|value)_/.test(one.part),
      );
      name = present(nameOf(convention, prefix, slot, "in_proj"));
      shape = [three.reduce((rows, one) => rows + one.shape[0]!, 0), ...slot.shape.slice(1)];
      first = three.slice(0, projection - 1).reduce((numbers, one) => numbers + product(one.shape), 0);
    }
    const tensor = name && tensors.get(name);
    if (!tensor) {
      found.missing.push(nameOf(convention, prefix, slot));
      continue;
    }
    found.used.add(name!);
    checkFloats(name!, tensor);
    if (tensor.shape ? `${tensor.shape}` !== `${shape}` : tensor.length !== product(shape)) {
      fail("shape", name!, shape, tensor.shape ?? tensor.length);
    }
    for (let i = 0; i < slot.pointers; ++i) {
      found.offsets.push(tensor.begin + 4 * (first + (i * product(shape)) / slot.pointers));
    }
  }
  return found;
};

/** A member for every part from `first` to `last`, whether the kernel has it or not. */
const entries = (first: number, last: number, before = ""): TensorEntry[] =>
  parts.slice(first, last).flatMap((part) => [[`${before + part}_weight`], [`${before + part}_bias`]] as TensorEntry[]);

/** What a checkpoint may have in the kernel's places and one layer beyond: there it is needed, or the kernel is another. */
const knownSlots = ({ kind, layers }: Description): Slot[] => {
  if (kind === "attention") return slotsOf("", entries(0, 5));
  const layer = [...entries(0, 5, "attention."), ...entries(5, 10)];
  if (!layers) return slotsOf("", layer);
  return [...Array.from({ length: layers + 1 }, (_, i) => slotsOf(`${i}.`, layer)).flat(), ...slotsOf("", entries(10, 11))];
};

/**
 * Where each pointer of the C function's weights points, in bytes from the begin of the tensors' block. A LadonError
 * says what is missing, and what the kernel has no place for: where `all`, every other tensor below the prefix, else
 * only tensors with names of the convention.
 */
export const findTensors = (description: Description, tensors: Tensors, given = "", all = false): number[] => {
  const prefix = given && given.replace(/\.?$/, ".");
  const slots = allSlots(description);
  // Checkpoints hold (out, in): of a kernel that reads (in, out) they have nothing.
  const tried = /per_head|in_out/.test(description.layout) ? conventions.slice(0, 1) : conventions;
  const [best] = tried
    .map((convention) => ({ convention, ...search(slots, tensors, convention, prefix) }))
    .sort((a, b) => a.missing.length - b.missing.length);
  const { convention, offsets, missing, used } = best!;
  const known = new Set(knownSlots(description).map((slot) => nameOf(convention, prefix, slot)));
  const others = [...tensors.keys()].filter((name) => name.startsWith(prefix) && !used.has(name));
  if (missing[0]) {
    const apart = description.layout === "in_proj" && others.some((name) => /query|q_proj/.test(name));
    fail("weights", apart ? "tensors (q, k and v apart need LAYOUT separate_qkv)" : "tensors", missing, others);
  }
  const unknown = others.filter((name) => all || known.has(name));
  if (unknown[0]) fail("weights", "tensors beside those of the kernel", [], unknown);
  return offsets;
};

/** One tensor, as long as the longest, for all. */
export const zeroTensors = (description: Description): { found: Tensors; longest: number } => {
  const found = new Map<string, Tensor>();
  let longest = 0;
  for (const slot of allSlots(description)) {
    const length = product(slot.shape);
    found.set(nameOf(conventions[0]!, "", slot), { begin: 0, length });
    longest = Math.max(longest, length);
  }
  return { found, longest };
};
