// Compiled with `tsc --strict`: correct calls, and calls that must not compile.
import {
  type ErrorCode,
  type Instance,
  type Kernel,
  LadonError,
  load,
  type Precision,
  type RotaryOptions,
  type TeamInstance,
  type TeamKernel,
  type Variant,
} from "ladon";
import { DateReader, loadKernel as loadDateKernel } from "ladon/date-reader";
import { type Hearing, KeywordSpotter, Microphone } from "ladon/keywords";
import { loadKernel, SentenceEncoder } from "ladon/minilm";

export const embed = async (x: Float32Array, signal: AbortSignal): Promise<Float32Array> => {
  const kernel: Kernel = await load(
    { kind: "attention", tokens: 128, model: 384, heads: 12 },
    { variant: "simd", signal },
  );
  const { queries, layers, mask }: { queries: number; layers?: number; mask: readonly string[] } = kernel.description;
  using instance = kernel.create({ mask: ["causal", "padding"] });
  await instance.weights.load("model.safetensors", {
    prefix: "layers.0.self_attn",
    progress: (n, all) => n / all,
    signal,
  });
  const y: Float32Array = instance.run(x, { tokens: 3, padding: [true, false, true], attention: true });
  const words: Float32Array = instance.weights.tensor("words", "float32");
  const map: Float32Array = instance.attention();
  const code: ErrorCode = "length";
  const variant: Variant = kernel.variant;
  console.log(queries, layers, mask, words, map, code, variant, (await kernel.warmUp()).best);
  return y.slice();
};

export const int8 = async (weight: Int8Array, scale: Float32Array): Promise<7 | 8 | undefined> => {
  const precision: Precision = "int8";
  const kernel = await loadKernel({ precision, activationBits: 7 });
  using instance = kernel.create();
  instance.weights.set({ linear1_weight: weight, linear1_weight_scale: scale, linear2_weight: new Float32Array(1) });
  const integers: Int8Array = instance.weights.tensor("linear1_weight", "int8");
  const sums: Int32Array = instance.weights.tensor("linear1_weight_row_sum", "int32");
  const any: Float32Array | Uint16Array | Int8Array | Uint8Array | Int32Array = instance.weights.tensor("linear1_weight");
  if (any instanceof Int8Array) console.log(any.length, integers, sums, kernel.description.precision);
  const encoder = await SentenceEncoder.load({ weights: "int8.safetensors", vocabulary: "vocab.txt", precision });
  return encoder.kernel.description.activationBits;
};

export const together = async (x: Float32Array): Promise<Float32Array> => {
  const kernel: TeamKernel = await loadKernel({ threads: 2 });
  using team: TeamInstance = kernel.create();
  const reason: string | undefined = kernel.singleThreadReason;
  const encoder = await SentenceEncoder.load({ weights: "w.safetensors", vocabulary: "vocab.txt", threads: kernel.threads });
  const y: Promise<Float32Array> = encoder.encoder.run(x);
  console.log(reason, await y, await encoder.embedAsync("a text"));
  return team.run(x, { tokens: 3 });
};

export const positions = (instance: Instance, x: Float32Array, bias: Float32Array): void => {
  const linear: RotaryOptions = { kind: "linear", factor: 4, offset: 1 };
  const relative: Float32Array = instance.relativeTable(bias, { causal: true, maxDistance: 128 });
  instance.run(x, { relative, rotary: linear });
  instance.run(x, { rotary: [linear, { kind: "longrope", factor: 4, originalPositions: 64, factors: [1, 2] }] });
  // @ts-expect-error: no such kind
  instance.run(x, { rotary: { kind: "default" } });
};

export const decoding = (instance: Instance, x: Float32Array, memory: Float32Array): Float32Array => {
  instance.run(x, { memory, memoryOptions: { keys: 3, padding: [1, 0, 1] }, attention: true });
  instance.weights.set({ linear1_weight: Uint16Array.of(0x3f80) });
  // @ts-expect-error: no such option of the memory
  instance.run(x, { memoryOptions: { tokens: 3 } });
  instance.run(x, { k: memory, v: memory });
  return instance.memoryAttention(0);
};

export const texts = async (weights: Uint8Array): Promise<void> => {
  const date: string | null = (await DateReader.load()).read("3rd of Feb, 2024").date;
  const encoder = await SentenceEncoder.load({ weights, vocabulary: "vocab.txt" });
  console.log(date, encoder.embed("A dog ate the food").length);
};

export const words = async (samples: Float32Array): Promise<Microphone> => {
  const spotter = await KeywordSpotter.load({ weights: "kwt1.safetensors", precision: "int8", stride: 50 });
  const { label, probability, attention, words } = spotter.spot(samples, { sampleRate: 16000 });
  const say = ({ word, milliseconds }: Hearing) => console.log(word?.label, word?.start, milliseconds);
  console.log(label === "yes", probability, attention[11]![0], words.length);
  // @ts-expect-error: no such label
  console.log(label === "maybe");
  // @ts-expect-error: samples are a Float32Array
  spotter.spot([0, 1]);
  return Microphone.open({ samples: (chunk) => spotter.push(chunk).forEach(say), ended: () => spotter.clear() });
};

export const others = async (instance: Instance, bytes: Uint8Array, module: WebAssembly.Module): Promise<void> => {
  for (const source of [bytes, module, new URL("https://example.org/k"), "attention_64_4", "./k.wasm", bytes.buffer])
    await load(source);
  instance.weights.set({ in_proj_weight: new Float32Array(1) }, { prefix: "a" });
  instance.run([1, 2], { queries: 1, keys: 2, offset: -1, additive: [0], rotary: { base: 1e4 } });
  try {
    instance.free();
  } catch (error) {
    if (error instanceof LadonError) console.log(error.code === "closed", error.expected, error.actual, error.cause);
  }

  // @ts-expect-error: this kind does not exist
  await load({ kind: "decoder", tokens: 1, model: 1, heads: 1 });
  // @ts-expect-error: a size is missing
  await load({ kind: "attention", tokens: 1, model: 1 });
  // @ts-expect-error: this variant does not exist
  await load("attention_64_4", { variant: "avx2" });
  // @ts-expect-error: a number is no source
  await load(7);
  // @ts-expect-error: an empty object is no source
  await load({});
  // @ts-expect-error: an array of numbers is no source
  await load([1, 2]);
  // @ts-expect-error: a function that returns no URL is no source
  await load(() => 1);
  // @ts-expect-error: a promise is no source
  await load(fetch("k.wasm"));
  // @ts-expect-error: a Response is no source, but its bytes are
  await load(new Response());
  // @ts-expect-error: null is no source
  await load(null);
  // @ts-expect-error: this option does not exist
  await load("attention_64_4", { varient: "simd" });
  const kernel = await load((variant) => new URL(`./k.${variant}.wasm`, import.meta.url));
  // @ts-expect-error: the kernel is already loaded
  await load(kernel);
  // @ts-expect-error: options are an object
  kernel.create("causal");
  // @ts-expect-error: this option does not exist
  kernel.create({ masks: "causal" });
  // @ts-expect-error: create() takes only none, causal and padding
  kernel.create({ mask: "window" });
  // @ts-expect-error: this option does not exist
  instance.run(bytes, { token: 1 });
  // @ts-expect-error: a length must be a number
  instance.run(bytes, { tokens: "1" });
  // @ts-expect-error: x must be numbers
  instance.run("x");
  // @ts-expect-error: weights must be Float32Array or Int8Array
  instance.weights.set({ in_proj_weight: [1, 2] });
  // @ts-expect-error: the binding computes row sums
  instance.weights.set({ in_proj_weight_row_sum: new Int32Array(1) });
  const packed: Uint8Array = instance.weights.tensor("in_proj_weight", "int4");
  // @ts-expect-error: a tensor may have one of five types
  const floats: Float32Array = instance.weights.tensor("in_proj_weight");
  // @ts-expect-error: this type does not exist
  instance.weights.tensor("in_proj_weight", "float16");
  // @ts-expect-error: this precision does not exist
  await load("attention_64_4", { precision: "int2" });
  // @ts-expect-error: the number must be 7 or 8
  await load("attention_64_4", { activationBits: 6 });
  // @ts-expect-error: the date reader has no int8 kernel
  await loadDateKernel({ precision: "int8" });
  // @ts-expect-error: the reader has no int8 kernel
  await DateReader.load({ precision: "int8" });
  // @ts-expect-error: this code does not exist
  const code: ErrorCode = "oops";
  // @ts-expect-error: read only
  kernel.description.queries = 3;
  // @ts-expect-error: a tensor is an array, not a number
  const tensor: number = instance.weights.tensor("a");
  console.log(code, tensor, floats);
};
