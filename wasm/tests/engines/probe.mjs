// Says what the package does in the engine that runs this file. tools/engine-table.mjs runs it in each engine.
import { load } from "../../dist/index.js";
import { loadKernel } from "../../dist/minilm.js";
import { relaxedDot } from "../../dist/relaxed-dot.js";

/** Returns the number of workers that compute a call together, or 0 if a call of a team fails. */
async function threads() {
  const kernel = await loadKernel({ threads: 2 });
  const team = kernel.create();
  const { layer, layers, model } = team.description;
  const zeros = ({ shape }) => new Float32Array(shape.reduce((a, b) => a * b));
  const ofLayer = (i) => layer.map((tensor) => [`layers.${i}.${tensor.name}`, zeros(tensor)]);
  team.weights.set(Object.fromEntries(Array.from({ length: layers }, (_, i) => ofLayer(i)).flat()));
  const count = await team.run(new Float32Array(model), { tokens: 1 }).then(
    () => kernel.threads,
    () => 0,
  );
  team.free();
  return count;
}

export async function probe() {
  const int8 = await loadKernel({ precision: "int8" });
  const dot = await load("attention_64_4", { variant: "relaxed" }).then(relaxedDot, () => "none");
  return {
    float32: (await load("attention_64_4")).variant,
    int8: int8.variant,
    bits: int8.description.activationBits,
    dot,
    threads: await threads(),
  };
}

const { Deno, Bun, document, process } = globalThis;
const plain = (version) => /^[\d.]+/.exec(version)[0];
/** The engine's own name and version. */
export const version = () => {
  if (Deno) return `Deno ${Deno.version.deno} (V8 ${plain(Deno.version.v8)})`;
  if (Bun) return `Bun ${Bun.version}`;
  if (process) return `Node ${process.versions.node} (V8 ${plain(process.versions.v8)})`;
  const gtk = /Linux.* Version\/([\d.]+) Safari/.exec(navigator.userAgent);
  if (gtk) return `WebKitGTK, as Safari ${gtk[1]}`;
  return /(Chrome|Firefox)\/[\d.]+|Version\/[\d.]+ Safari/.exec(navigator.userAgent)[0].replace("/", " ");
};
if (!document) console.log(JSON.stringify({ engine: version(), ...(await probe()) }));
