// Calls a module of ladon_add_kernel without the npm package. This file places the tensors in the module's memory. So
// the measured time does not include the package. Modules that the package does not ship can be measured, too.

import {ModuleMemory} from "./module_memory.mjs";

/** Returns the description of a module. The module contains its description as JSON. */
export function describe(module) {
  const [section] = WebAssembly.Module.customSections(module, "ladon");
  if (!section) throw new Error("not a module of ladon_add_kernel: there is no section `ladon`");
  return JSON.parse(new TextDecoder().decode(section));
}

/**
 * Returns {float32, int8}: the flops that one call needs. The flops of linear maps are int8 if the weights are int8.
 * The flops of scores and weighted sums are float32. With `causal`, the result contains only the visible pairs of query
 * and key. For T queries and T keys, T (T + 1) / 2 pairs are visible.
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

/**
 * Returns all tensors of a kernel as {name, type, shape, elements}, in the order of the pointers in the C struct of
 * weights.
 */
export function tensorsOf({weights, layer = [], layers = 0}) {
  const ofLayers = Array.from({length: layers}, () => layer).flat();
  return [...ofLayers, ...weights].flatMap(({name, type, shape, count = 1}) => {
    const elements = shape.reduce((a, b) => a * b);
    return Array.from({length: count}, () => ({name, type, shape, elements}));
  });
}

/** Returns a generator of normally distributed numbers. Equal seeds give equal numbers. */
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

/**
 * Returns true if the tensor holds the scales or the row sums of an int8 matrix. Both are computed when the matrix is
 * quantised.
 */
const isDerived = ({name}) => /_weight_(scale|row_sum)$/.test(name);

/**
 * Returns random numbers for x and all tensors of a kernel. Kernels with float32 and with int8 weights get equal
 * numbers. The weights are scaled so that the outputs of a linear map have a variance of about 1.
 */
export function inputsFor(description, seed = 20260101) {
  const draw = numbers(seed);
  const tensors = tensorsOf(description).filter(tensor => !isDerived(tensor)).map(({name, shape, elements}) =>
      /norm/.test(name) ? draw(elements, 0.02, name.endsWith("weight") ? 1 : 0) :
      shape.length > 1 ? draw(elements, 1 / Math.sqrt(shape[1])) : draw(elements, 0.1));
  return {x: draw(description.queries * description.model, 1), tensors};
}

/**
 * Instantiates a kernel's module, quantises the weights if the kernel is int8, and calls the kernel once. Returns
 * {description, firstCall, run(), y}: `firstCall` is the time of the first call in milliseconds, and `y` is a copy of
 * its result. `options` has the members of the C struct of options, such as {offset: 3}. `activations` is the format of
 * quantised inputs. The default, 7 bits, works on every engine.
 */
export async function instantiate(module, {x, tensors}, options = {}, activations = {bits: 7, isSigned: false}) {
  const description = describe(module);
  if (description.context || description.cache) throw new Error("a kernel must have one input and no cache");
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
