/** The kernels that the package ships; wasm/README.md says what each is. */
export type ShippedName =
  | "attention_64_4"
  | "attention_128_4"
  | "attention_256_8"
  | "attention_384_12"
  | "attention_512_8"
  | "attention_768_12"
  | "minilm"
  | "date_reader";

/** What a kernel is to do; lengths in tokens. */
export interface Wanted {
  readonly kind: "attention";
  /** A run shall have room for so many at least; `description.queries` tells how many it has. */
  readonly tokens: number;
  /** Width of a token. */
  readonly model: number;
  readonly heads: number;
}

/** Whether a source says where modules are; a string that does not is a name. */
export const isUrl = (source: any): source is string | URL => /[./:]/.test(source);

/** What a shipped kernel that is wanted would be called. */
export const nameOf = (wanted: any): string =>
  wanted.kind ? `${wanted.kind}_${wanted.model}_${wanted.heads}` : wanted;
