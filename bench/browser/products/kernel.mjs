// A module of products.cpp, with the numbers of a chain in its memory.
import {hidden, model, tokens} from "./numbers.mjs";

/** {product(), chain(), y}: two runs; `y` is what the last chain gave, [tokens][model]. */
export async function instantiateProducts(module, precision, {x, products}, {bits, isSigned}) {
  const {exports} = await WebAssembly.instantiate(module);
  const {memory} = exports;
  let top = exports.__heap_base.value;
  const room = bytes => {
    const place = Math.ceil(top / 64) * 64;
    top = place + bytes;
    const missing = top - memory.buffer.byteLength;
    if (missing > 0) memory.grow(Math.ceil(missing / 65536));
    return place;
  };
  const put = values => {
    const place = room(values.byteLength);
    new values.constructor(memory.buffer, place, values.length).set(values);
    return place;
  };
  exports.set_activations(bits, Number(isSigned));
  const width = exports.width(), isInt8 = precision === "int8";
  const zeros = put(new Float32Array(hidden));
  const records = put(Uint32Array.from(products.flatMap(({floats, weight, scale, rowSum}) =>
      isInt8 ? [put(weight), put(scale), put(rowSum), zeros] : [put(floats), 0, 0, zeros])));
  const input = put(x.map((_, i) => x[placeInRows(i, width)]));
  const between = room(4 * tokens * hidden), output = room(4 * tokens * model);
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

/** Where the element i of panels [panels][model][width] lies in rows [tokens][model]. */
const placeInRows = (i, width) => {
  const lane = i % width, feature = Math.floor(i / width) % model, panel = Math.floor(i / (width * model));
  return (panel * width + lane) * model + feature;
};
