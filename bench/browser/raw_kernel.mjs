// A module of ladon_add_kernel with nothing between it and the caller: its tensors laid out in its memory by hand, so
// that what is measured is the module alone, and modules can be compared that no package has.

import {ModuleMemory} from "./module_memory.mjs";

/** The JSON that a module says about itself. */
export function describe(module) {
  const [section] = WebAssembly.Module.customSections(module, "ladon");
  if (!section) throw new Error("no module of ladon_add_kernel: it has no section `ladon`");
  return JSON.parse(new TextDecoder().decode(section));
}

/**
 * Flops that the result needs, by precision: those of linear maps are of the weights' precision, scores and weighted
 * sums are float32. `causal` counts the pairs that may be seen, T (T + 1) / 2 of T^2.
 */
export function neededFlops(description, causal) {
  const {kind, queries, keys, model, heads, kvHeads, headWidth, valueWidth, feedForward, layers = 1} = description;
  const pairs = causal ? queries * (keys - queries) + queries * (queries + 1) / 2 : queries * keys;
  const projections = queries * model * heads * headWidth + keys * model * kvHeads * (headWidth + valueWidth) +
                      queries * model * heads * valueWidth;
  const products = layers * (2 * projections + (kind === "attention" ? 0 : 4 * queries * model * feedForward));
  const attention = layers * 2 * pairs * heads * (headWidth + valueWidth);
  return description.precision === "int8" ? {float32: attention, int8: products} :
                                            {float32: attention + products, int8: 0};
}

/** All tensors of a kernel in the order of its weights' pointers: {name, type, shape, elements}. */
export function tensorsOf({weights, layer = [], layers = 0}) {
  const ofLayers = Array.from({length: layers}, () => layer).flat();
  return [...ofLayers, ...weights].flatMap(({name, type, shape, count = 1}) => {
    const elements = shape.reduce((a, b) => a * b);
    return Array.from({length: count}, () => ({name, type, shape, elements}));
  });
}

/** x as embeddings are, a linear map as initialisation leaves it: outputs of about unit size. The same every time. */
export function numbers(seed) {
  let state = seed >>> 0 || 1;
  const uniform = () => {  // xorshift32
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return (state + 0.5) / 4294967296;
  };
  return (count, deviation, mean = 0) => Float32Array.from({length: count}, () =>
      mean + deviation * Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform()));
}

/** True for a scale and a row sum: both are computed from the weights. */
const isDerived = ({name}) => /_weight_(scale|row_sum)$/.test(name);

/** Such numbers for x and all tensors of a kernel: the same for kernels of float32 and of int8 weights. */
export function inputsFor(description, seed = 20260101) {
  const draw = numbers(seed);
  const tensors = tensorsOf(description).filter(tensor => !isDerived(tensor)).map(({name, shape, elements}) =>
      /norm/.test(name) ? draw(elements, 0.02, name.endsWith("weight") ? 1 : 0) :
      shape.length > 1 ? draw(elements, 1 / Math.sqrt(shape[1])) : draw(elements, 0.1));
  return {x: draw(description.queries * description.model, 1), tensors};
}

/**
 * An instance that was called once: {description, firstCall, run(), y}. `firstCall` is how long that took, in
 * milliseconds; `y` is copied out of its memory; options are `{offset: 3}`, numbers by their names in the C header.
 * Weights of int8 kernels are quantised here; `activations` is {bits, isSigned}, by default what every engine allows.
 */
export async function instantiate(module, {x, tensors}, options = {}, activations = {bits: 7, isSigned: false}) {
  const description = describe(module);
  if (description.context || description.cache) throw new Error("only kernels of one input and no cache");
  const {exports} = await WebAssembly.instantiate(module);
  const {memory} = exports;
  const pieces = new ModuleMemory(exports);
  exports.set_activations?.(activations.bits, Number(activations.isSigned));
  const quantised = (values, [rows, columns]) => {
    const made = [rows * columns, 4 * rows, 4 * rows].map(bytes => pieces.take(bytes));
    const status = pieces.lend(values, floats => exports.quantise_rows(floats, rows, columns, ...made));
    if (status !== 0) throw new Error(`quantise_rows: status ${status}`);
    return made;
  };
  const placesOf = ({type, shape}, values) => type === "int8" ? quantised(values, shape) : [pieces.put(values)];
  for (const name of Object.keys(options)) {
    if (!description.options.some(option => option.name === name)) {
      throw new Error(`${description.name} has no option ${name}`);
    }
  }
  const input = pieces.put(x);
  const given = tensorsOf(description).filter(tensor => !isDerived(tensor));
  const weights = pieces.put(Uint32Array.from(given.flatMap((tensor, i) => placesOf(tensor, tensors[i]))));
  const output = pieces.take(x.byteLength);
  const workspace = pieces.take(description.workspace);
  const chosen = pieces.put(Uint32Array.from(description.options.flatMap(({name, count = 1}) =>
      Array(count).fill(options[name] ?? 0))));
  const call = () => exports.run(input, weights, output, workspace, chosen);
  const start = performance.now();
  const status = call();
  const firstCall = performance.now() - start;
  if (status !== 0) throw new Error(`${description.name}: status ${status}`);
  return {
    description, firstCall, run: call,
    get y() { return new Float32Array(memory.buffer, output, x.length).slice(); },
  };
}
