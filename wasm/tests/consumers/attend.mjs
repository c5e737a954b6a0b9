// The code that each consumer project runs. It imports the package by its name, loads a shipped kernel, sets PyTorch's
// weights, runs the kernel, loads a file of weights, and causes an error. test_consumers.mjs compares the results with
// those of the scalar modules in Node.
import { LadonError, load } from "ladon";
import { loadKernel } from "ladon/minilm";

export const attend = async (file) => {
  const kernel = await load({ kind: "attention", tokens: 3, model: 64, heads: 4 });
  const instance = kernel.create({ mask: "causal" });
  const filled = (count, scale) => Float32Array.from({ length: count }, (_, i) => scale * Math.sin(i));
  instance.weights.set({
    in_proj_weight: filled(192 * 64, 0.1),
    in_proj_bias: filled(192, 1),
    "out_proj.weight": filled(64 * 64, 0.1),
    "out_proj.bias": filled(64, 1),
  });
  const y = Array.from(instance.run(filled(3 * 64, 1), { tokens: 3, attention: true }));
  const seen = Array.from(instance.attention().subarray(0, 3));
  let loaded = 0;
  await instance.weights.load(file, { progress: (bytes) => (loaded = bytes) });
  const after = Array.from(instance.run(filled(3 * 64, 1), { tokens: 3 }));
  let code = "";
  try {
    instance.run([1, 2, 3], { tokens: 3 });
  } catch (error) {
    if (error instanceof LadonError) code = error.code;
  }
  const { calls } = await kernel.warmUp({ tokens: 2, most: 20 });
  instance.free();
  const minilm = await loadKernel();
  const int8 = await loadKernel({ precision: "int8" });
  const { activationBits } = int8.description;
  const zeros = ({ layer, layers: count }) =>
    Array.from({ length: count }, (_, i) =>
      layer.map(({ name, shape }) => [`layers.${i}.${name}`, new Float32Array(shape.reduce((a, b) => a * b))]));
  const ofTeam = await loadKernel({ threads: 2 });
  const team = ofTeam.create();
  team.weights.set(Object.fromEntries(zeros(team.description).flat()));
  const { length } = await team.run(filled(384, 1), { tokens: 1 }).catch(({ message }) => ({ length: message }));
  team.free();
  const unknown = await load("minilm").catch(({ code }) => code);
  const { layers } = minilm.description;
  return { variant: kernel.variant, y, seen, loaded, after, code, calls: calls > 0, minilm: layers, unknown, int8: int8.variant, activationBits,
    team: [ofTeam.threads, length] };
};
