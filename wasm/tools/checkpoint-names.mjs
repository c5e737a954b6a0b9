// Translates the C++ table of checkpoint names (src/weights/checkpoint_names.cpp) into TypeScript.

const rowPattern = /\{\s*"([^"]+)",\s*"([^"]+)"\s*\}/g;
const tablePattern = /constexpr Row (\w+)\[\] = \{((?:[^{}]|\{[^{}]*\})*)\};/g;
const conventionPattern = /\{\s*"([^"]+)",\s*"([^"]+)",\s*"([^"]+)",\s*"([^"]*)",\s*(\w+),\s*(\w+),\s*(\w+|\{\})\s*\}/g;

function rowTables(code) {
  const tables = { "{}": [] };
  for (const [, table, body] of code.matchAll(tablePattern)) {
    tables[table] = [...body.matchAll(rowPattern)].map(([, role, name]) => [role, name]);
  }
  return tables;
}

/**
 * Throws unless `conventions` has every string of the C++ file. A missing string means that a regular expression of
 * this script no longer fits the C++ file.
 */
function checkComplete(code, conventions) {
  const expected = [...code.replace(/#include.*/g, "").matchAll(/"([^"]*)"/g)].map(([, text]) => text);
  const found = conventions.flatMap(({ title, layers, attention, cross, ...tables }) => [
    title,
    layers,
    attention,
    cross, // empty if the convention has no decoder
    ...Object.values(tables).flat(2),
  ]);
  if (`${expected.sort()}` !== `${found.sort()}`) {
    throw new Error(`checkpoint_names.cpp: expected ${expected.length} strings, read ${found.length}`);
  }
}

export function readCheckpointNames(text) {
  const code = text.replace(/\/\/.*/g, "");
  const tables = rowTables(code);
  const rowsOf = (table) => {
    if (!tables[table]) throw new Error(`checkpoint_names.cpp: expected a table ${table}`);
    return tables[table];
  };
  const all = /constexpr Convention all\[\] = \{([^;]*)\};/.exec(code)?.[1] ?? "";
  const conventions = [...all.matchAll(conventionPattern)].map(([, title, layers, attention, cross, ofAttention, ofLayer, beside]) => ({
    title,
    layers,
    attention,
    cross,
    ofAttention: rowsOf(ofAttention),
    ofLayer: rowsOf(ofLayer),
    besideLayers: rowsOf(beside),
  }));
  checkComplete(code, conventions);
  return conventions;
}

/**
 * Returns the table as TypeScript. Omits the titles of the conventions, because only error messages of the C++ code
 * contain the titles. Omits the names of cross-attention, because no module computes a decoder.
 */
export const checkpointNames = (text) => `
/** The role of a tensor in a kernel, and the name of the tensor in a checkpoint. */
export type Row = readonly [role: string, name: string];

export interface Convention {
  /** The list of a stack's layers. */
  readonly layers: string;
  /** The name of the attention in a layer. */
  readonly attention: string;
  readonly ofAttention: readonly Row[];
  readonly ofLayer: readonly Row[];
  readonly besideLayers: readonly Row[];
}

export const conventions: readonly Convention[] = ${JSON.stringify(readCheckpointNames(text), (key, value) => (["title", "cross"].includes(key) ? undefined : value), 2)};
`;
