// Translates the options of masks (src/c_kernel/masks.hpp) into TypeScript.

const optionPattern = /options\.add\(\{\.name = "(\w+)",\s*\.type = (\w+)_type,((?:[^{}"]|\{[^{}]*\}|"[^"]*")*)\}\);/g;

/** Returns the value of a member of the initialiser, such as `.axes`. */
const memberOf = (text, member) => new RegExp(`\\.${member} = (\\{[^}]*\\}|"[^"]*"|[^,]+)`).exec(text)?.[1];

/** Returns the axes of an array as a text such as "[queries][keys]". */
function axesText(name, axes) {
  const perHead = axes === "pair_axes<PerHead>";
  const names = perHead ? ["queries", "keys"] : [...axes.matchAll(/"([^"]+)"/g)].map(([, axis]) => axis);
  if (!names.length) throw new Error(`masks.hpp: expected the axes of ${name}, found ${axes}`);
  const text = names.map((axis) => `[${axis}]`).join("");
  return perHead ? `${text}, or with ${name}_per_head [heads]${text}` : text;
}

/** Returns a comment of the C header with the names of JavaScript. */
const inJavaScript = (text) =>
  text.replace("NULL", "undefined").replace("INFINITY", "Infinity").replace("NAME_relative_fill", "relativeTable");

/**
 * Returns those mask options of masks.hpp that are arrays. Omits the options with a member `of`, such as boolean_keys.
 * These options are numbers of columns, which the package sets and the caller does not.
 */
export function readMaskOptions(code) {
  const added = [...code.matchAll(optionPattern)];
  const expected = code.match(/options\.add\(/g)?.length;
  if (added.length !== expected) throw new Error(`masks.hpp: expected ${expected} options, read ${added.length}`);
  return added
    .filter(([, , , rest]) => !memberOf(rest, "of"))
    .map(([, name, type, rest]) => ({
      name,
      type,
      text: axesText(name, memberOf(rest, "axes") ?? "") + inJavaScript(JSON.parse(memberOf(rest, "after"))),
    }));
}

export const maskOptions = (code) => `
/** The data of masks, for a run. A kernel takes the data of its own masks. */
export interface MaskOptions {
${readMaskOptions(code)
  .map(
    ({ name, type, text }) => `  /** ${text}. */
  readonly ${name}?: ArrayLike<${type === "uint8" ? "number | bigint | boolean" : "number"}>;
`,
  )
  .join("")}}
`;
