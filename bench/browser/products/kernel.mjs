// Instantiates a module of products.cpp, and copies the input and the weights of 12 products to the module's memory.
// The 12 products form a chain: the result of a product is the input of the next product (numbers.mjs).
import {ModuleMemory} from "../module_memory.mjs";
import {hidden, model, tokens} from "./numbers.mjs";

/**
 * Instantiates `module` and returns {product(), chain(), y}. product() computes only the first of `products`. chain()
 * computes all `products`, each on the result of the previous product. `y` is the result of the last call of chain(),
 * [tokens][model].
 */
export async function instantiateProducts(module, precision, {x, products}, {bits, isSigned}) {
  const {exports} = await WebAssembly.instantiate(module);
  const {memory} = exports;
  const pieces = new ModuleMemory(exports);
  exports.set_activations(bits, Number(isSigned));
  const width = exports.width(), isInt8 = precision === "int8";
  const zeros = pieces.put(new Float32Array(hidden));
  const records = pieces.put(Uint32Array.from(products.flatMap(({floats, weight, scale, rowSum}) =>
      isInt8 ? [pieces.put(weight), pieces.put(scale), pieces.put(rowSum), zeros] : [pieces.put(floats), 0, 0, zeros])));
  const input = pieces.put(x.map((_, i) => x[placeInRows(i, width)]));
  const between = pieces.take(4 * tokens * hidden), output = pieces.take(4 * tokens * model);
  return {
    product: () => exports.product(input, records, between),
    chain: () => exports.chain(input, records, products.length, between, output),
    get y() {
      const panels = new Float32Array(memory.buffer, output, tokens * model), rows = new Float32Array(tokens * model);
      panels.forEach((value, i) => { rows[placeInRows(i, width)] = value; });
      return rows;
    },
  };
}

/**
 * Converts the index of a number from one layout to another: `i` is the index in panels [tokens / width][model][width],
 * and the result is the index in rows [tokens][model].
 */
const placeInRows = (i, width) => {
  const lane = i % width, feature = Math.floor(i / width) % model, panel = Math.floor(i / (width * model));
  return (panel * width + lane) * model + feature;
};
