// Measures MiniLM from a text to its vector, in the npm package and in other packages, in one thread of a page or of
// Node. ../measure.mjs describes the argument `host`. `precision` is "float32" or "int8". With "int8", the program
// compares int8 weights with float32 weights.
import {cosine, mustAgree, mustResemble} from "../measure.mjs";
import {alternate, figures, repeatsFor, spread, timesAsFast} from "../rounds.mjs";
import {pause, warmUp} from "../warm_up.mjs";
import {makePeaks, workOf} from "../work.mjs";
import {models} from "./models.mjs";
import {textOf} from "./texts.mjs";

const [layers, model] = [6, 384];
/**
 * Returns the flops that the encoder's layers need for one text: {float32, int8} with int8 weights, and {float32} with
 * float32 weights. With int8 weights, projections and feed-forward networks are int8, but scores and weighted sums
 * remain float32.
 */
const neededFlops = (tokens, precision) => {
  const products = layers * 24 * tokens * model ** 2, attention = layers * 4 * tokens ** 2 * model;
  return precision === "int8" ? {float32: attention, int8: products} : {float32: attention + products};
};

/**
 * Calls report({row}) with the result of each model, report({tokenizing}) with the result of each tokenizer, and
 * report({message}) for each problem.
 */
export async function measureMiniLm(host, {tokens: counts, rounds, milliseconds, precision, peers}, report) {
  const peaks = await makePeaks(milliseconds, report);
  if (precision === "int8") delete peaks.scalar;
  const [best] = Object.keys(peaks);
  const entrants = await allEntrants(host, {kinds: Object.keys(peaks), precision, peers}, report);
  for (const tokens of counts) {
    const text = textOf(tokens, entrants[0].ids);
    const agreeing = await thoseThatAgree(entrants, text, report);
    const contestants = [];
    const enter = async ({embed, ids, free, ...one}, run, more = {}) => {
      await warmUp(run);
      contestants.push({...one, run, work: workOf(neededFlops(tokens, one.precision), peaks[one.kind]),
                        repeats: await repeatsFor(run, milliseconds), ...more});
    };
    for (const one of agreeing) await enter(one, () => one.embed(text));
    const tokenizers = agreeing.filter(one => one.kind === best || one.who.startsWith("transformers"))
        .filter((one, i, all) => all.findIndex(({who}) => who === one.who) === i).slice(0, 2);
    for (const one of tokenizers) await enter(one, () => one.ids(text), {tokenizes: true});
    reportAll(tokens, contestants, await alternate(contestants, rounds), report);
  }
  for (const {free} of entrants) await free();
}

/**
 * Returns everything that is measured: Ladon in each kind of module, and each model of the other packages. The first
 * entry is Ladon with float32 weights, because the vectors of all other entries are compared with the vectors of this
 * entry.
 */
async function allEntrants(host, {kinds, precision, peers}, report) {
  const entrants = [];
  for (const each of new Set(["float32", precision])) {
    for (const kind of kinds) {
      try {
        entrants.push(await ladonOf(host, kind, each));
      } catch (error) {
        if (each === "float32") throw error;
        report({message: `Ladon's ${kind} module of ${each} is left out: ${error.message}`});
      }
    }
  }
  for (const {name, forms} of peers) entrants.push(...await formsOf(host, name, forms, entrants[0].ids, report));
  return entrants;
}

/**
 * Calls report({cosine}) for each package with int8 weights. `cosine` has the mean and the smallest cosine between the
 * package's int8 vectors and Ladon's float32 vectors. Relaxed modules quantise the inputs of products to 7 or 8 bits,
 * depending on the engine. So the cosines of relaxed modules also depend on the engine.
 */
export async function measureCosines(host, {sentences, peers}, report) {
  const kinds = ["simd", "relaxed"];
  const [float32, ...entrants] = await allEntrants(host, {kinds, precision: "int8", peers}, report);
  entrants.push(await ladonOf(host, "simd", "int8", 7));
  const expected = [];
  for (const text of sentences) expected.push(await float32.embed(text));
  for (const {embed, ids, free, ...one} of entrants.filter(each => each.precision === "int8")) {
    const cosines = [];
    for (const [i, text] of sentences.entries()) cosines.push(cosine(await embed(text), expected[i]));
    const mean = cosines.reduce((sum, value) => sum + value, 0) / cosines.length;
    report({cosine: {...one, sentences: sentences.length, mean, least: Math.min(...cosines)}});
  }
  for (const {free} of [float32, ...entrants]) await free();
}

/** Loads MiniLM with Ladon's package, in a module of the kind `kind`. If `kind` is undefined, uses the fastest kind. */
async function ladonOf(host, kind, precision, activationBits) {
  const {SentenceEncoder} = await host.binding("minilm.js");
  const encoder = await SentenceEncoder.load({
    weights: new URL(host.url("minilm/model.safetensors")), vocabulary: new URL(host.url("minilm/vocab.txt")),
    variant: kind, ...(precision === "int8" && {precision}), ...(activationBits && {activationBits})});
  const {activationBits: bits} = encoder.kernel.description;
  return {who: "ladon", kind, precision, ...(precision === "int8" && {activation_bits: bits}),
          embed: text => encoder.embed(text), ids: text => encoder.ids(text), free: () => encoder.free()};
}

/**
 * For each `form` in `forms`, loads the ONNX file models[form] with the package `name`. Returns an object to measure
 * for each loaded file. After the first failure, calls report({message}) and loads no more files.
 */
async function formsOf(host, name, forms, ids, report) {
  const found = [];
  try {
    const peer = await host.peer(name);
    for (const form of forms) {
      found.push({who: name, kind: "simd", precision: models[form].precision, form, ...await peer.load(form, ids)});
    }
  } catch (error) {
    report({message: `${name} is left out: ${error.message}`});
  }
  return found;
}

/**
 * Compares each loaded model with the first: the token ids and the vector of `text` must agree. Returns the models that
 * agree, including the first. Leaves out a model of another package that disagrees. Throws if a module of Ladon
 * disagrees.
 */
async function thoseThatAgree([first, ...others], text, report) {
  const agreeing = [first], ids = first.ids(text).join(), expected = await first.embed(text);
  for (const one of others) {
    try {
      if (one.ids(text).join() !== ids) throw new Error(`the ids of "${text}" are ${one.ids(text)}, not ${ids}`);
      const check = one.precision === "int8" ? mustResemble : mustAgree;
      check([one.who, one.kind, one.form].join(" "), await one.embed(text), expected);
      agreeing.push(one);
    } catch (error) {
      if (one.who === "ladon") throw error;
      report({message: `${one.who}, ${one.form}, is left out: ${error.message}`});
    }
  }
  return agreeing;
}

function reportAll(tokens, contestants, results, report) {
  // Both arguments are measurements, and `one` is a measurement of Ladon. Returns true if the report compares their
  // speeds. Each measurement of Ladon is compared with every other package. Int8 weights are also compared with float32
  // weights in the same kind of module.
  const isOther = (one, {who, kind, precision, tokenizes}) => one.tokenizes === tokenizes &&
      (who !== "ladon" || (kind === one.kind && precision === "float32" && one.precision === "int8"));
  for (const [index, contestant] of contestants.entries()) {
    const {run, repeats, work, tokenizes, ...said} = contestant;
    const others = said.who !== "ladon" ? [] : [...contestants.keys()].filter(i => isOther(contestant, contestants[i]));
    const times = said.who !== "ladon" ? {} : {times_as_fast_as: others.map(i => {
      const {who, kind, precision, form} = contestants[i];
      return {who, kind, precision, ...(form && {form}), ...timesAsFast(results[index], results[i])};
    })};
    if (tokenizes) {
      report({tokenizing: {tokens, who: said.who, microseconds: spread(results[index].seconds.map(s => 1e6 * s)),
                           ...times}});
    } else {
      report({row: {tokens, ...said, ...figures(contestant, results[index]), ...times}});
    }
  }
}

/**
 * Measures the start of one package in a new page or process. Calls report({start}) with three times in milliseconds:
 * until the code is loaded, until the model is loaded, and until the first vector is computed.
 */
export async function startMiniLm(host, {who, form, precision, tokens}, report) {
  await pause(500);  // until the browser has finished its own start
  const text = textOf(tokens, () => ({length: tokens}));
  const begin = performance.now(), past = () => performance.now() - begin;
  try {
    const peer = who === "ladon" ? await host.binding("minilm.js") : await host.peer(who);
    const code = past();
    const one = who === "ladon" ? await ladonOf(host, undefined, precision) : await peer.load(form);
    const model = past();
    const {length} = await one.embed(text);
    const vector = past();
    if (length !== 384) throw new Error(`a vector of ${length} numbers`);
    report({start: {milliseconds: {code, model, vector}}});
  } catch (error) {
    if (who === "ladon") throw error;
    report({message: `${who}, ${form}, does not start: ${error.message}`});
  }
}
