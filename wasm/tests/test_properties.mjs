// Tests properties: arbitrary files, arguments and modules give a correct result or a LadonError with a short message,
// in bounded time. After an error, the instance keeps its old state. LADON_PROPERTY_RUNS sets the number of runs of
// each property, and LADON_PROPERTY_SEED sets the seed. fast-check shrinks a failing case and prints the case with its
// seed.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import fc from "fast-check";
import { DateReader } from "../dist/date-reader.js";
import { LadonError, load } from "../dist/index.js";
import { WordPiece } from "../dist/minilm.js";
import { moduleBytes, randomOf, randoms, weightsOf } from "./kernels.mjs";
import { withSection } from "./module_file.mjs";
import { fileOf, headerOf, safetensors, streamOf } from "./safetensors.mjs";

const numRuns = Number(process.env.LADON_PROPERTY_RUNS ?? 150);
const seed = Number(process.env.LADON_PROPERTY_SEED ?? 20261124);
const mostMilliseconds = 2000;

const holds = (arbitrary, property) => fc.assert(fc.asyncProperty(arbitrary, property), { numRuns, seed });

/** Returns the result of `act`, or undefined if `act` throws a LadonError. Any other error fails the test. */
const settled = async (act) => {
  const start = performance.now();
  try {
    return await act();
  } catch (error) {
    assert.ok(error instanceof LadonError, `${error?.stack}`);
    assert.ok(error.message.length <= 300, `a message of ${error.message.length} characters`);
  } finally {
    const time = performance.now() - start;
    assert.ok(time < mostMilliseconds, `${time} ms`);
  }
};

const random = randomOf(3);
const scalar = moduleBytes("attention_64_4", "scalar");
const kernel = await load(scalar);
const { description } = kernel;
const { model } = description;
const weights = weightsOf(description, random);
const x = randoms(random, 5 * model);

/**
 * Returns {instance, check}. `instance` has weights. check() runs the instance again and asserts that its result has
 * not changed.
 */
const made = () => {
  const instance = kernel.create({ mask: ["causal", "padding"] });
  instance.weights.set(weights);
  const run = () => instance.run(x, { tokens: 5 }).slice();
  const y = run();
  return { instance, check: () => assert.deepEqual(run(), y) };
};

/**
 * Generates random changes of a file of `length` bytes, for the function `mutated`. Three quarters of the changes begin
 * in the first `within` bytes.
 */
const mutationsOf = (length, within) => {
  const at = fc.oneof({ weight: 3, arbitrary: fc.nat(within - 1) }, fc.nat(length - 1));
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 9 });
  const one = fc.oneof(
    fc.record({ kind: fc.constant("replace"), at, bytes }),
    fc.record({ kind: fc.constant("insert"), at, bytes }),
    fc.record({ kind: fc.constant("remove"), at, count: fc.nat(40) }),
    fc.record({ kind: fc.constant("repeat"), at, count: fc.nat(40) }),
    fc.record({ kind: fc.constant("truncate"), at }),
  );
  return fc.array(one, { minLength: 1, maxLength: 4 });
};

const mutated = (file, mutations) => {
  let bytes = Array.from(file);
  for (const { kind, at, bytes: more = [], count = 0 } of mutations) {
    if (kind === "replace") bytes.splice(at, more.length, ...more);
    if (kind === "insert") bytes.splice(at, 0, ...more);
    if (kind === "remove") bytes.splice(at, count);
    if (kind === "repeat") bytes.splice(at, 0, ...bytes.slice(at, at + count));
    if (kind === "truncate") bytes = bytes.slice(0, at);
  }
  return Uint8Array.from(bytes);
};

const nested = fc
  .record({ depth: fc.integer({ min: 1, max: 20_000 }), open: fc.constantFrom("[", '{"a":', '[{"":') })
  .map(({ depth, open }) => {
    const close = { "[": "]", '{"a":': "}", '[{"":': "}]" }[open];
    return `${open.repeat(depth)}1${close.repeat(depth)}`;
  });
const size = fc.oneof(fc.nat(70_000), fc.constantFrom(-1, 0.5, 2 ** 31, 2 ** 32, 2 ** 53, 1e300, "1", null, true));
const text = fc.string({ unit: "binary", maxLength: 40 });
/** Arbitrary JSON, including names and numbers that have a special meaning for a reader of JSON. */
const json = fc.oneof(
  fc.json({ maxDepth: 3 }),
  nested,
  size.map((value) => JSON.stringify(value)),
  fc.constantFrom('{"__proto__":1}', '"F32"', '"constructor"', "[]", "{}", "1e999", "-0"),
);

const names = Object.keys(weights);
const tensors = description.weights.map(({ name, shape }) => [name, shape, weights[name]]);
const file = safetensors(tensors);
const { header, data } = headerOf(file);
const headerLength = file.length - data.length;

test("weights.load: arbitrary bytes, and changed files", async () => {
  const { instance, check } = made();
  const short = fc.uint8Array({ maxLength: 60 });
  const bytes = fc.oneof(
    short,
    fc.tuple(fc.nat(50), short).map(([length, rest]) => Uint8Array.of(length, 0, 0, 0, 0, 0, 0, 0, ...rest)),
    mutationsOf(file.length, headerLength).map((mutations) => mutated(file, mutations)),
  );
  await holds(bytes, async (source) => {
    // A file with an intact header but changed data is valid, so `load` succeeds and the weights change. The test then
    // sets the old weights again, because check() needs them.
    const isLoaded = await settled(() => instance.weights.load(source).then(() => true));
    if (isLoaded) instance.weights.set(weights);
    check();
  });
});

test("weights.load: changed headers", async () => {
  const { instance, check } = made();
  const offset = fc.oneof(fc.nat(data.length), size);
  const entry = fc.oneof(
    fc.record(
      {
        dtype: fc.oneof(fc.constantFrom("F32", "F16", "BF16", "F64", "I64", "BOOL", "f32"), text),
        shape: fc.oneof(fc.array(size, { maxLength: 4 }), fc.constantFrom([64], [64, 64], [192, 64])),
        data_offsets: fc.oneof(fc.tuple(offset, offset), fc.array(offset, { maxLength: 3 })),
        more: text,
      },
      { requiredKeys: [] },
    ).map((value) => JSON.stringify(value)),
    json,
    fc.constantFrom(...names).map((name) => JSON.stringify(header[name])),
  );
  const name = fc.oneof(fc.constantFrom(...names, "__metadata__", "__proto__", "constructor", "toString"), text);
  const changes = fc.array(fc.tuple(name, entry), { maxLength: 4 });
  const headers = fc.oneof(
    json,
    fc.tuple(changes, fc.boolean()).map(([some, first]) => {
      const old = Object.entries(header).map(([key, value]) => [key, JSON.stringify(value)]);
      const kept = old.filter(([key]) => !some.some(([other]) => other === key));
      const all = first ? [...some, ...old] : [...kept, ...some]; // `first` repeats names
      return `{${all.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join()}}`;
    }),
  );
  await holds(headers, async (changed) => {
    const isLoaded = await settled(() => instance.weights.load(fileOf(changed, data)).then(() => true));
    if (isLoaded) instance.weights.set(weights);
    check();
  });
});

test("weights.load: streams that grow, end early, fail, or hold other values than bytes", async () => {
  const { instance, check } = made();
  const stream = fc.record({
    length: fc.oneof(fc.nat(file.length + 20), fc.constant(file.length)),
    piece: fc.integer({ min: 1, max: 20_000 }),
    claimed: fc.option(fc.constantFrom(0, 1, 2 ** 20, 2 ** 31, 2 ** 40, Number.MAX_SAFE_INTEGER), { freq: 3 }),
    end: fc.constantFrom("close", "close", "error", "abort", "value"),
    value: fc.anything({ withTypedArray: true, withBigInt: true, withNullPrototype: true }),
  });
  await holds(stream, async ({ length, piece, claimed, end, value }) => {
    const bytes = new Uint8Array(length);
    bytes.set(file.subarray(0, length));
    if (claimed !== null && length >= 8) new DataView(bytes.buffer).setBigUint64(0, BigInt(claimed), true);
    const controller = new AbortController();
    let at = 0;
    const source = new ReadableStream({
      pull(to) {
        const begin = at;
        at = Math.min(length, at + Math.max(piece, length / 500));
        if (begin < length) return to.enqueue(bytes.slice(begin, at));
        if (end === "error") return to.error(value);
        if (end === "value") to.enqueue(value);
        if (end === "abort") controller.abort(value);
        if (end !== "abort") to.close();
      },
    });
    const isLoaded = await settled(() => instance.weights.load(source, { signal: controller.signal }).then(() => true));
    if (isLoaded) assert.ok(claimed === null && length === file.length, "another file was taken for the right one");
    check();
  });
});

const anything = fc.anything({
  withBigInt: true,
  withDate: true,
  withMap: true,
  withNullPrototype: true,
  withObjectString: true,
  withSet: true,
  withSparseArray: true,
  withTypedArray: true,
});
/**
 * Generates arrays of the correct length or another length, with any type of element. Also generates values that only
 * look like arrays.
 */
const arrayOf = (...lengths) => {
  const length = fc.oneof(fc.constantFrom(...lengths), fc.nat(40));
  const Type = fc.constantFrom(Float32Array, Float64Array, Uint8Array, Int32Array, Uint32Array, BigInt64Array, Array);
  const fill = fc.oneof(fc.constantFrom(0, 1, -1, NaN, Infinity, -Infinity, 1e38, "1", null, true, 1n), anything);
  const filled = fc.record({ length, Type, fill }).map(({ length: count, Type: Of, fill: value }) => {
    try {
      return new Of(count).fill(value);
    } catch {
      return new Of(count);
    }
  });
  const lookalike = fc.record({ length: fc.oneof(length, anything), 0: anything });
  return fc.oneof({ weight: 4, arbitrary: filled }, lookalike, anything);
};
const count = fc.oneof(
  fc.integer({ min: -1, max: 12 }),
  fc.constantFrom(NaN, 0.5, 2 ** 31, 2 ** 32, 1e9, -1e9, "3", 5n),
  anything,
);

/** Generates the option `rotary` with a kind. */
const scaled = fc.record(
  {
    kind: fc.oneof(fc.constantFrom("none", "linear", "dynamic", "llama3", "yarn", "longrope", "proportional"), text),
    ...Object.fromEntries(["base", "factor", "originalPositions", "offset", "betaFast", "proportion"].map((one) => [one, count])),
    factors: arrayOf(4),
  },
  { requiredKeys: ["kind"] },
);
/** Generates options of a run: known options with any values, and unknown options. */
const optionsOf = ({ queries, keys, keyModel = 1, heads, memory = 0, kvHeads, headWidth, valueWidth, model: width }) =>
  fc.oneof(
    {
      weight: 9,
      arbitrary: fc.record(
        {
          tokens: count,
          queries: count,
          keys: count,
          offset: count,
          context: arrayOf(keys * keyModel, 5 * keyModel),
          k: arrayOf(kvHeads * keys * headWidth, kvHeads * 5 * headWidth),
          v: arrayOf(kvHeads * keys * valueWidth, kvHeads * 5 * valueWidth),
          memory: arrayOf(memory * width, 5 * width),
          memoryOptions: fc.oneof(
            fc.record({ keys: count, padding: arrayOf(memory, 5), sinks: arrayOf(heads) }, { requiredKeys: [] }),
            anything,
          ),
          padding: arrayOf(keys, 5),
          bits: arrayOf(queries, 5, queries * Math.ceil(keys / 32)),
          boolean: arrayOf(queries * keys, heads * queries * keys, 25),
          additive: arrayOf(queries * keys, 25),
          slopes: arrayOf(heads),
          sinks: arrayOf(heads),
          rotary: fc.oneof(fc.record({ base: count, scaling: count, offset: count }, { requiredKeys: [] }), scaled, anything),
          attention: anything,
          [fc.sample(fc.string(), { seed, numRuns: 1 })[0]]: anything,
        },
        { requiredKeys: [] },
      ),
    },
    anything,
  );

const folder = new URL("kernels/modules/", import.meta.url);
const oddNames = ["odd_context", "odd_cache", "odd_projected", "odd_rotary", "odd_layer", "odd_given", "odd_decoder", "decoder_cache"];
const skipOdd = existsSync(new URL("odd_cache.scalar.wasm", folder)) ? false : "tests/kernels is not built";

/** Asserts that y has whole rows, and at most as many rows as the run has queries. */
const checkRows = (y, { arrays }) => {
  if (y === undefined) return;
  const { shape } = arrays.find(({ output }) => output);
  assert.ok(y instanceof Float32Array && y.length % shape.at(-1) === 0 && y.length <= sizeOf(shape), `${y.length}`);
};
const sizeOf = (shape) => shape.reduce((a, b) => a * b);

test("run: arbitrary arguments", async () => {
  const { instance, check } = made();
  const { queries } = description;
  const given = fc.tuple(arrayOf(5 * model, queries * model, 0), optionsOf({ ...description, queries: 5, keys: 5 }));
  await holds(given, async ([input, options]) => {
    checkRows(await settled(() => instance.run(input, options)), description);
    check();
  });
});

for (const name of oddNames) {
  test(`run: arbitrary arguments of ${name}`, { skip: skipOdd }, async () => {
    const odd = await load(new URL(name, folder), { variant: "scalar" });
    const { queries, model: columns, heads, context, options, arrays, memory } = odd.description;
    const [first, ...others] = arrays.filter(({ output }) => !output);
    const instance = odd.create();
    const withCount = ({ shape, count = 1, ...rest }) => ({ ...rest, shape: [count * shape[0], ...shape.slice(1)] });
    const stored = odd.description.weights.map(withCount);
    instance.weights.set(weightsOf({ ...odd.description, weights: stored }, random));
    const right = { tokens: context ? undefined : 2 };
    for (const one of others) right[one.name] = randoms(random, sizeOf(one.shape));
    const has = (wanted) => options.some((option) => option.name === wanted);
    if (has("sinks")) right.sinks = new Float32Array(heads);
    if (has("memory.sinks")) right.memoryOptions = { sinks: new Float32Array(heads) };
    const run = () => {
      instance.clear();
      return instance.run(randoms(randomOf(9), context ? sizeOf(first.shape) : 2 * columns), right).slice();
    };
    const y = run();
    const own = options.map((option) => option.name).filter((one) => !one.startsWith("memory."));
    const names = own.concat("tokens", "queries", "keys", ...others.map((one) => one.name), memory ? "memoryOptions" : []);
    const input = arrayOf(2 * columns, 5 * columns, queries * columns, sizeOf(first.shape));
    const some = fc.tuple(input, optionsOf(odd.description), fc.boolean());
    await holds(some, async ([array, all, onlyKnown]) => {
      const isRecord = Object(all) === all && !Array.isArray(all);
      const entries = onlyKnown && isRecord ? names.filter((key) => key in all).map((key) => [key, all[key]]) : null;
      const known = entries ? Object.fromEntries(entries) : all;
      const cached = instance.cached;
      const result = await settled(() => instance.run(array, known));
      checkRows(result, odd.description);
      if (result === undefined) assert.equal(instance.cached, cached, "a refused run changed the cache");
      assert.deepEqual(run(), y);
    });
  });
}

test("relativeTable: arbitrary arguments", { skip: skipOdd }, async () => {
  const { create, description: odd } = await load(new URL("odd_relative", folder), { variant: "scalar" });
  const instance = create();
  const [heads, distances] = odd.options.find(({ name }) => name === "relative").shape;
  const options = fc.record({ causal: anything, maxDistance: count }, { requiredKeys: [] });
  await holds(fc.tuple(arrayOf(4 * heads, 32 * heads), fc.oneof(options, anything)), async ([bias, given]) => {
    const table = await settled(() => instance.relativeTable(bias, given));
    if (table !== undefined) assert.equal(table.length, heads * distances);
  });
});

test("weights.set: arbitrary tensors", async () => {
  const { instance, check } = made();
  const tensor = fc.oneof(fc.constantFrom(...names.map((name) => weights[name])), arrayOf(64, 192, 64 * 64, 64 * 192));
  const record = fc.oneof(
    fc.record(Object.fromEntries(names.map((name) => [name, tensor])), { requiredKeys: [] }),
    fc.dictionary(text, tensor, { maxKeys: 4 }),
    anything,
  );
  await holds(fc.tuple(record, fc.option(anything, { nil: undefined })), async ([some, options]) => {
    const isSet = await settled(() => (instance.weights.set(some, options), true));
    if (isSet) instance.weights.set(weights);
    check();
  });
});

test("load: arbitrary bytes, and changed modules", async () => {
  const { check } = made();
  const source = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.uint8Array({ maxLength: 60 }).map((rest) => Uint8Array.of(...scalar.subarray(0, 8), ...rest)),
    mutationsOf(scalar.length, 600).map((mutations) => mutated(scalar, mutations)),
    anything,
  );
  // The test loads changed modules, but does not run them, because their code may never end. WebAssembly keeps such
  // code from accessing memory outside the module.
  await holds(source, async (bytes) => {
    await settled(() => load(bytes));
    check();
  });
});

test("load, create and run: changed descriptions", async () => {
  const { check } = made();
  const entries = Object.entries(description);
  const tensor = description.weights[0];
  const tensorChange = fc
    .record({ name: text, shape: fc.array(size, { maxLength: 3 }), count: size }, { requiredKeys: [] })
    .map((change) => JSON.stringify([{ ...tensor, ...change }]));
  const optionChange = fc
    .record(
      {
        name: fc.oneof(fc.constantFrom("padding", "attention", "sinks", "bits", "rotary", "isa"), text),
        type: fc.oneof(fc.constantFrom("uint8", "uint32", "float32", "size", "offset", "rotary_table"), text),
        shape: fc.array(size, { maxLength: 3 }),
        required: fc.boolean(),
        count: size,
      },
      { requiredKeys: ["name"] },
    )
    .map((change) => JSON.stringify([...description.options.slice(0, 2), change]));
  const change = fc.oneof(
    fc.tuple(fc.constantFrom(...entries.map(([key]) => key), "cache", "context", "rotary", "layers", "layer"), json),
    fc.tuple(fc.constantFrom("weights", "layer"), tensorChange),
    fc.tuple(fc.constant("options"), optionChange),
    fc.tuple(text, json),
  );
  const section = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.array(change, { minLength: 1, maxLength: 3 }).map((changes) => {
        const all = new Map([...entries.map(([key, value]) => [key, JSON.stringify(value)]), ...changes]);
        return `{${[...all].map(([key, value]) => `${JSON.stringify(key)}:${value}`).join()}}`;
      }),
    },
    json,
  );
  await holds(section, async (content) => {
    const changed = await settled(() => load(withSection(content, scalar)));
    const instance = changed && (await settled(() => changed.create()));
    if (instance) {
      await settled(() => instance.weights.set(weights));
      const y = await settled(() => instance.run(x, { tokens: 5 }));
      if (y !== undefined) assert.ok(y instanceof Float32Array);
      await settled(() => instance.attention());
      instance.free();
    }
    check();
  });
});

test("texts and vocabularies", async () => {
  const reader = await DateReader.load();
  const date = reader.read("3rd of Feb, 2024").date;
  const input = fc.oneof(fc.string({ unit: "binary", maxLength: 300 }), fc.string({ unit: "grapheme" }), anything);
  const pieces = fc.array(fc.oneof(fc.constantFrom("[UNK]", "[CLS]", "[SEP]", "a", "##a", ""), text), { maxLength: 12 });
  await holds(fc.tuple(input, pieces, fc.boolean(), count), async ([one, some, isComplete, most]) => {
    await settled(() => reader.read(one));
    const lines = isComplete ? ["[UNK]", "[CLS]", "[SEP]", ...some] : some;
    const words = await settled(() => new WordPiece(lines.join("\n")));
    const ids = words && (await settled(() => words.encode(one, most)));
    for (const id of ids ?? []) assert.ok(Number.isInteger(id) && id >= 0 && id < words.pieces.length, `${id}`);
    assert.equal(reader.read("3rd of Feb, 2024").date, date);
  });
});
