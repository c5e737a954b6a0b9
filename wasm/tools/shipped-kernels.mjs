// Translates the list of shipped modules (modules.json) into TypeScript.

/** The sizes of a kernel that is attention alone; undefined for encoders. */
function attentionOf(name, text) {
  const words = text.split(" ");
  if (words.includes("FEED_FORWARD")) return undefined;
  const [tokens, model, heads] = ["QUERIES", "MODEL", "HEADS"].map((key) => Number(words[words.indexOf(key) + 1]));
  if (name !== `attention_${model}_${heads}`) throw new Error(`modules.json: expected attention_${model}_${heads}, found ${name}`);
  return { name, tokens, model, heads };
}

export function shippedKernels(list) {
  const names = Object.keys(list);
  const attentions = names.map((name) => attentionOf(name, list[name])).filter(Boolean);
  return `
/** The kernels that the package ships; wasm/README.md says what each of them is. */
export type ShippedName =
${names.map((name) => `  | "${name}"`).join("\n")};

export const shippedNames: readonly ShippedName[] = ${JSON.stringify(names)};

export interface ShippedAttention {
  readonly name: ShippedName;
  /** The largest number of tokens. */
  readonly tokens: number;
  readonly model: number;
  readonly heads: number;
}

export const shippedAttentions: readonly ShippedAttention[] = ${JSON.stringify(attentions, undefined, 2)};
`;
}
