// The folders that `./dev test --package` imports into tests/models/imported, and their recorded inputs and results.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { variants } from "../kernels.mjs";
import { headerOf } from "../safetensors.mjs";

const at = (path) => fileURLToPath(new URL(path, import.meta.url));

/** The folder that `./dev import --wasm` wrote. */
export const importedFolder = (name) => at(`imported/${name}`);
/** The variants of the model that are there and that this engine runs. */
export const variantsOf = (name) =>
  variants.filter((variant) => {
    const file = `${importedFolder(name)}/${name}.${variant}.wasm`;
    return existsSync(file) && WebAssembly.validate(readFileSync(file));
  });
/** The folder of the checkpoint. make_classifier.mjs makes those of the classifier and of the tagger, and make_pairs.mjs that of pairs. */
export const checkpointFolder = (name) => {
  if (name === "clip") return at("../../../tests/import/clip");
  return ["classifier", "pairs", "tagger"].includes(name) ? at(`imported/checkpoint/${name}`) : at(`../../../tests/data/families/${name}`);
};

/** Returns the reason to skip tests of an imported model: false, or that it comes from a folder that is not there. */
export function skipOf(name) {
  const folder = at(`../../../../shared/families/${name}`);
  return name !== "whisper" || existsSync(folder) ? false : `there is no ${folder}`;
}

/** The model that ./dev test --package imports for the tab of stories (tools/wasm.sh), if its files are there. */
export const stories = new URL("../../dist/stories/", import.meta.url);
const storiesFile = join(process.env.LADON_STORIES_DIR ?? at("../../../../shared/models/stories260K"), "stories260K.bin");
export const skipWithoutStories = existsSync(storiesFile) ? false : `there is no ${storiesFile}`;

/** Returns the tensors of a safetensors file as arrays of numbers. */
export function readTensors(path) {
  const { header, data } = headerOf(readFileSync(path));
  delete header.__metadata__;
  const typed = { F32: Float32Array, I64: BigInt64Array, I32: Int32Array };
  return Object.fromEntries(
    Object.entries(header).map(([name, { dtype, data_offsets }]) => {
      const bytes = data.slice(...data_offsets);
      return [name, Array.from(new typed[dtype](bytes.buffer, bytes.byteOffset, bytes.length / typed[dtype].BYTES_PER_ELEMENT), Number)];
    }),
  );
}

/** Returns the recorded `inputs` of a model, and its results, such as `last`. */
export function recorded(name) {
  const tensors = readTensors(`${checkpointFolder(name)}/io.safetensors`);
  const given = Object.entries(tensors).filter(([key]) => key.startsWith("given."));
  return { ...tensors, inputs: Object.fromEntries(given.map(([key, values]) => [key.slice("given.".length), values])) };
}
