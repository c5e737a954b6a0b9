// Translates the C++ table of checkpoint names (src/weights/checkpoint_names.cpp) into TypeScript.

const rowPattern = /\{\s*"([^"]*)",\s*"([^"]+)"(?:,\s*(\w+))?\s*\}/g;
const tablePattern = /constexpr Row (\w+)\[\] = \{((?:[^{}]|\{[^{}]*\})*)\};/g;
// title, attention, cross-attention, tables of attention, feed-forward network, norms and stack, in_out, set
const conventionPattern = new RegExp(
  String.raw`\{\s*"([^"]+)",\s*"([^"]+)",\s*"([^"]*)",\s*(\w+),\s*\{(\w+),\s*(\w+)\},\s*(\w+|\{\})` +
    String.raw`(?:,\s*(?:true|false))?(?:,\s*"([^"]*)")?\s*\}`,
  "g",
);

// The conventions that the JavaScript binding reads, and the list of a stack's layers: of encoders, and of decoders with
// cross-attention. Other conventions need more than
// a name for each tensor, or give another meaning to a name of these conventions.
const layerLists = {
  PyTorch: "layers",
  "Hugging Face BERT": "encoder.layer",
  "Hugging Face Llama": "layers",
  "Hugging Face BART": "encoder.layers",
  "Hugging Face CLIP": "encoder.layers",
  "Hugging Face ViT": "encoder.layer",
  "Hugging Face DistilBERT": "transformer.layer",
  "Hugging Face MPNet": "encoder.layer",
  "Hugging Face wav2vec 2.0": "encoder.layers",
};
const decoderLists = { PyTorch: "layers", "Hugging Face BART": "decoder.layers" };

function rowTables(code) {
  const tables = { "{}": [] };
  for (const [, table, body] of code.matchAll(tablePattern)) {
    tables[table] = [...body.matchAll(rowPattern)].map(([, role, name, cut]) => [role, name, cut ?? "whole"]);
  }
  return tables;
}

/**
 * Throws unless the tables and the conventions have every string of the C++ file. A missing string means that a regular
 * expression of this script no longer fits the C++ file.
 */
function checkComplete(code, tables, conventions) {
  const expected = [...code.replace(/#include.*/g, "").matchAll(/"([^"]*)"/g)].map(([, text]) => text);
  const rows = Object.values(tables).flatMap((table) => table.flatMap(([role, name]) => [role, name]));
  const ofConvention = ({ title, attention, cross, set }) => [title, attention, cross, ...(set ? [set] : [])];
  const found = [...rows, ...conventions.flatMap(ofConvention)];
  if (`${expected.sort()}` !== `${found.sort()}`) {
    throw new Error(`checkpoint_names.cpp: expected ${expected.length} strings, read ${found.length}`);
  }
}

/** Returns whether a tensor has several matrices, as GPT-NeoX's query_key_value and Phi-3's gate_up_proj have. */
const isFused = ([role]) => role === "in_proj" || role.includes("+");

/** Returns the rows [role, name] of single tensors. A row such as linear1 stands for a weight and a bias. */
const singleTensors = (rows) =>
  rows
    .filter((row) => row[2] === "whole" && row[0] !== "" && !isFused(row))
    .flatMap(([role, name]) => {
      if (/_(weight|bias)$/.test(role)) return [[role, name]];
      return ["weight", "bias"].map((tensor) => [`${role}_${tensor}`, `${name}.${tensor}`]);
    });

const parent = (list) => list.replace(/[^.]*$/, "");

/** Returns the rows of tensors beside the list of layers, with names relative to the prefix of a stack. */
const besideList = (rows, list) => {
  const outer = parent(parent(list).slice(0, -1));
  return rows.map(([role, name]) => [role, name.startsWith("^") ? outer + name.slice(1) : parent(list) + name]);
};

/** Throws if two conventions give different roles to a name. */
function checkUnambiguous(conventions) {
  for (const table of ["ofAttention", "ofLayer", "besideLayers"]) {
    const roles = new Map();
    for (const [role, name] of conventions.flatMap((convention) => convention[table])) {
      if (roles.has(name) && roles.get(name) !== role) throw new Error(`checkpoint_names.cpp: ${name} has two roles`);
      roles.set(name, role);
    }
  }
}

export function readCheckpointNames(text) {
  const code = text.replace(/\/\/.*/g, "");
  const tables = rowTables(code);
  const rowsOf = (table) => {
    if (!tables[table]) throw new Error(`checkpoint_names.cpp: expected a table ${table}`);
    return singleTensors(tables[table]);
  };
  const all = /constexpr Convention all\[\] = \{([^;]*)\};/.exec(code)?.[1] ?? "";
  const conventions = [...all.matchAll(conventionPattern)].map(
    ([, title, attention, cross, ofAttention, feedForward, norms, beside, set]) => {
      const layers = (cross ? decoderLists : layerLists)[title];
      return {
        title,
        layers,
        attention,
        cross,
        set,
        ofAttention: rowsOf(ofAttention),
        ofLayer: [...rowsOf(feedForward), ...rowsOf(norms)],
        besideLayers: besideList(rowsOf(beside), layers ?? ""),
      };
    },
  );
  checkComplete(code, tables, conventions);
  const readable = conventions.filter(({ layers }) => layers);
  checkUnambiguous(readable.filter(({ cross }) => cross));
  checkUnambiguous(readable.filter(({ cross }) => !cross));
  return readable;
}

/** Returns the names of fused tensors that are no name of a single tensor. */
export function readFusedNames(text) {
  const rows = Object.values(rowTables(text.replace(/\/\/.*/g, ""))).flat();
  const others = rows.filter((row) => !isFused(row)).map(([, name]) => name);
  return [...new Set(rows.filter(isFused).map(([, name]) => name))].filter((name) => !others.includes(name));
}

/**
 * Returns the table as TypeScript. Omits the titles of the conventions, because only error messages of the C++ code
 * contain the titles.
 */
export const checkpointNames = (text) => `
/** The role of a tensor in a kernel, and the name of the tensor in a checkpoint. */
export type Row = readonly [role: string, name: string];

export interface Convention {
  /** The list of a stack's layers. */
  readonly layers: string;
  /** The name of the attention in a layer; in a decoder, of self-attention. */
  readonly attention: string;
  /** The name of the attention to the memory. Undefined in conventions of encoders. */
  readonly cross?: string;
  readonly ofAttention: readonly Row[];
  readonly ofLayer: readonly Row[];
  readonly besideLayers: readonly Row[];
}

/** The names of tensors that have several matrices. The binding does not cut them. */
export const fusedNames: readonly string[] = ${JSON.stringify(readFusedNames(text))};

export const conventions: readonly Convention[] = ${JSON.stringify(readCheckpointNames(text), (key, value) => (["title", "set"].includes(key) || value === "" ? undefined : value), 2)};
`;
