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

// Names of checkpoints as the kernel's C members have them, of PyTorch's TransformerEncoder and transformers' BertModel
// and LlamaModel, as src/weights has them for C++. One after the other: what a pair puts in, a later one may look for.
const spellings = (
  "encoder.layer.=layers. self_attn.=attention. attention.output.dense.=attention.out_proj_ " +
  "attention.output.LayerNorm.=norm1_ intermediate.dense.=linear1_ output.dense.=linear2_ output.LayerNorm.=norm2_ " +
  "self.query.=query_proj_ self.key.=key_proj_ self.value.=value_proj_ q_proj.=query_proj_ k_proj.=key_proj_ " +
  "v_proj.=value_proj_ q_proj_=query_proj_ k_proj_=key_proj_ v_proj_=value_proj_ o_proj.=out_proj_ " +
  "out_proj.=out_proj_ mlp.gate_proj.=gate_ mlp.up_proj.=linear1_ mlp.down_proj.=linear2_ input_layernorm.=norm1_ " +
  "post_attention_layernorm.=norm2_ linear1.=linear1_ linear2.=linear2_ norm1.=norm1_ norm2.=norm2_ norm.=norm_ " +
  "_gamma=_weight _beta=_bias" // of the first checkpoints of BERT, born in TensorFlow
)
  .split(" ")
  .map((pair) => pair.split("=") as [string, string]);

const product = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

/** Throws where a tensor cannot be read as floats where it lies. */
export const checkFloats = (name: string, { dtype = "F32", begin }: Tensor): void => {
  if (dtype !== "F32" || begin % 4) fail("weights", name, "F32 at a multiple of 4 bytes", `${dtype} at ${begin}`);
};

/**
 * Where each pointer of the C function's weights points, in bytes from the begin of the tensors' block. A LadonError
 * says what is missing, and what the kernel has no place for: where `all`, every other tensor below the prefix, else
 * what a kernel like it has, such as one more layer, or a bias.
 */
export const findTensors = (description: Description, tensors: Tensors, given = "", all = false): number[] => {
  const { kind, layers, layer = [], weights, layout } = description;
  // Checkpoints hold (out, in): a kernel that reads (in, out) knows its own names only.
  const own = (name: string): string =>
    /h|in_o/.test(layout) ? name : spellings.reduce((text, [from, to]) => text.replace(from, to), name);
  // BERT's names say in what follows whether they are an attention's.
  const before = kind === "attention" && !given ? "attention." : "";
  const prefix = own(before + (given && given.replace(/\.?$/, ".")));
  const names = new Map<string, string>(); // by member
  for (const name of tensors.keys()) {
    const full = own(before + name);
    if (full.startsWith(prefix)) names.set(full.slice(prefix.length), name);
  }
  const entries: TensorEntry[] = [
    ...Array.from({ length: layers ?? 1 }, (_, i) =>
      layer.map(([member, ...shape]): TensorEntry => [(layers ? `layers.${i}.` : "") + member, ...shape]),
    ).flat(),
    ...weights,
  ];
  const missing: string[] = [];
  const used = new Set<string>();
  const offsets = entries.flatMap(([entry, ...extents]) => {
    const [member, heads] = entry.split(/[[\]]/) as [string, string?];
    const shape = heads ? [+heads, ...extents] : extents;
    let name = names.get(member);
    let rows: readonly number[] = shape;
    let first = 0;
    const joined = member.replace(/(query|key|value)_proj/, "in_proj");
    if (!name && joined !== member && !heads) {
      // One of query, key and value out of all three.
      const [q = 0, k = 0, v = 0] = ["query", "key", "value"].map(
        (one) => entries.find(([other]) => other === joined.replace("in_", `${one}_`))?.[1],
      );
      name = names.get(joined);
      rows = [q + k + v, ...shape.slice(1)];
      first = (/query/.test(member) ? 0 : /key/.test(member) ? q : q + k) * product(shape.slice(1));
    }
    if (!name) {
      missing.push(member);
      return [];
    }
    used.add(name);
    const tensor = tensors.get(name)!;
    checkFloats(name, tensor);
    if (tensor.shape ? `${tensor.shape}` !== `${rows}` : tensor.length !== product(rows)) {
      fail("shape", `shape of ${name}`, rows, tensor.shape ?? tensor.length);
    }
    return Array.from({ length: +(heads ?? 1) }, (_, i) => tensor.begin + 4 * (first + i * product(extents)));
  });
  const others = [...names].filter(([, name]) => !used.has(name));
  const listed = (some: typeof others): string[] => some.map(([, name]) => name);
  if (missing[0]) {
    const apart = layout === "in_proj" && /query_proj/.test(`${others}`);
    fail("weights", apart ? "tensors (q, k and v apart need LAYOUT separate_qkv)" : "tensors", missing, listed(others));
  }
  const unknown = others.filter(
    ([member]) => all || /^(layers\.\d+\.)?(attention\.)?(\w+_proj|gate|linear.|norm.?)_(weight|bias)$/.test(member),
  );
  if (unknown[0]) fail("weights", "other tensors than the kernel's", [], listed(unknown));
  return offsets;
};
