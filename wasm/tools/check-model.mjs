// node check-model.mjs NAME.js IO.safetensors OUT.safetensors: runs an imported model on the recorded tensors given.NAME,
// and writes its results last, pooled and answer, which `ladon-import --compare` compares with the recorded ones.
import { readFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { writeSafetensors } from "./write-safetensors.mjs";

const typed = { F32: Float32Array, I32: Int32Array, I64: BigInt64Array };

/** Returns the recorded input `name` as numbers; undefined if it is absent and `isOptional`. */
function given(file, name, isOptional = false) {
  const length = Number(file.readBigUInt64LE(0));
  const found = JSON.parse(file.subarray(8, 8 + length).toString())[`given.${name}`];
  if (!found && isOptional) return undefined;
  if (!found || !typed[found.dtype]) throw new Error(`the file has no tensor given.${name} of F32, I32 or I64`);
  const [begin, end] = found.data_offsets.map((at) => 8 + length + at);
  return Array.from(new typed[found.dtype](Uint8Array.from(file.subarray(begin, end)).buffer), Number);
}

const [wrapper, recorded, out] = process.argv.slice(2);
try {
  const file = readFileSync(recorded);
  const { load } = await import(pathToFileURL(resolve(wrapper)));
  const model = await load();
  const { inputs, functions, variant } = model.description;
  const tensors = functions.map(({ name, result, width, inputs: names = inputs.map((one) => one.name) }) => {
    const values = Object.fromEntries(names.map((input) => [input, given(file, input)]));
    for (const { types } of inputs) if (types) values[types] = given(file, types, true);
    const [method] = name.split("_"); // "head" of "head_text"
    const found = model[method](values);
    const numbers = method === "run" ? found.last : found;
    return [result, { shape: [numbers.length / width, width], values: numbers }];
  });
  writeSafetensors(out, tensors);
  process.stderr.write(`${basename(import.meta.url)}: the variant ${variant} ran\n`);
} catch (error) {
  process.stderr.write(`${basename(import.meta.url)}: ${error.message}\n`);
  process.exitCode = 1;
}
