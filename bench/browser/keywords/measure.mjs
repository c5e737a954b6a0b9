// Measures the keyword spotting model KWT-1 in the npm package and in LiteRT.js, in one thread of a page or of Node.
// ../measure.mjs describes the argument `host`. The part "chain" computes logits from one second of sound. The part
// "model" computes logits from features.
import {alternate, figures, repeatsFor, timesAsFast} from "../rounds.mjs";
import {warmUp} from "../warm_up.mjs";
import {makePeaks, workOf} from "../work.mjs";

const frames = 98, tokens = 99, width = 64, layers = 12, feedForward = 256, coefficients = 40;
/**
 * The number of multiply-adds in the linear maps of the encoder for one recording. The last layer computes keys and
 * values for all tokens. Its other linear maps compute only the class token, which is the only query of the last layer.
 */
const productMacs = (layers - 1) * tokens * width * (4 * width + 2 * feedForward) +
    2 * tokens * width * width + width * (2 * width + 2 * feedForward);
const attentionMacs = (layers - 1) * 2 * tokens * tokens * width + 2 * tokens * width;
const embeddingMacs = frames * coefficients * width;
/**
 * Returns the flops that KWT-1 needs for one recording: {float32, int8} with int8 weights, and {float32} with float32
 * weights. Does not count the flops of the front end, which computes features from sound.
 */
const neededFlops = precision => precision === "int8" ?
    {float32: 2 * (attentionMacs + embeddingMacs), int8: 2 * productMacs} :
    {float32: 2 * (productMacs + attentionMacs + embeddingMacs)};

/**
 * Measures Ladon and LiteRT.js. Calls report({row}) with each result and report({message}) for each problem. `windows`
 * is an array of recordings {name, samples, features}, where `samples` and `features` are arrays of numbers. `peers` is
 * an array of {part, precision, file}, with an entry for each tflite file that LiteRT.js runs.
 */
export async function measureKeywords(host, {windows, parts, precisions, rounds, milliseconds, peers}, report) {
  const peaks = await makePeaks(milliseconds, report);
  const entrants = [];
  for (const precision of precisions) {
    for (const kind of Object.keys(peaks)) {
      if (kind === "scalar" && precision === "int8") continue;
      try {
        entrants.push(...await ladonOf(host, kind, precision));
      } catch (error) {
        if (precision === "float32") throw error;
        report({message: `Ladon's ${kind} module of ${precision} is left out: ${error.message}`});
      }
    }
  }
  entrants.push(...await litertOf(host, peers, report));
  for (const part of parts) {
    const inputs = windows.map(window => Float32Array.from(part === "chain" ? window.samples : window.features));
    const ones = entrants.filter(one => one.part === part && precisions.includes(one.precision));
    await measurePart({part, inputs, ones, peaks, rounds, milliseconds}, report);
  }
  for (const {free} of entrants) free();
}

async function measurePart({part, inputs, ones, peaks, rounds, milliseconds}, report) {
  const expected = [];
  for (const x of inputs) expected.push((await ones[0].logits(x)).slice());
  const contestants = [];
  for (const {logits, free, ...one} of ones) {
    const error = await errorOf(logits, inputs, expected);
    if (!(error.logit <= (one.precision === "int8" ? 1 : 1e-3)) || !error.labelsEqual) {
      if (one.who === "ladon") throw new Error(`Ladon's ${one.kind} module of ${one.precision} is wrong: ${error.logit}`);
      report({message: `${one.who}, ${one.precision}, ${part}, is left out: a logit differs by ${error.logit}`});
      continue;
    }
    // Each call of `run` computes the logits of one recording, and the next call takes the next recording.
    let next = 0;
    const run = () => logits(inputs[next++ % inputs.length]);
    await warmUp(run);
    contestants.push({...one, error: error.logit, run, work: workOf(neededFlops(one.precision), peaks[one.kind]),
                      repeats: await repeatsFor(run, milliseconds)});
  }
  const results = await alternate(contestants, rounds);
  for (const [index, contestant] of contestants.entries()) {
    const {run, repeats, work, ...said} = contestant;
    const others = said.who !== "ladon" ? [] : contestants.flatMap(({who, precision}, i) =>
        who !== "ladon" ? [{who, precision, ...timesAsFast(results[index], results[i])}] : []);
    report({row: {...said, ...figures(contestant, results[index]), times_as_fast_as: others}});
  }
}

/**
 * Returns the largest difference between a logit and the expected logit, and whether the largest logit has the expected
 * label in every recording. The label is not compared if the two largest expected logits differ by at most 0.6.
 */
async function errorOf(logits, inputs, expected) {
  let [logit, labelsEqual] = [0, true];
  for (const [i, x] of inputs.entries()) {
    const found = await logits(x), wanted = expected[i];
    const [first, second] = [...wanted].sort((a, b) => b - a);
    logit = wanted.reduce((most, value, label) => Math.max(most, Math.abs(value - found[label])), logit);
    const largest = array => array.indexOf(Math.max(...array));
    if (first - second > 0.6 && largest([...found]) !== largest([...wanted])) labelsEqual = false;
  }
  return {logit, labelsEqual};
}

/**
 * Loads KWT-1 with the npm package. `kind` selects the module of the package. Returns two objects to measure: one for
 * the part "chain" (from sound to logits), and one for the part "model" (from features to logits).
 */
async function ladonOf(host, kind, precision) {
  const {KeywordSpotter} = await host.binding("keywords.js");
  const spotter = await KeywordSpotter.load({
    weights: new URL(host.url("keywords/kwt1.safetensors")), variant: kind,
    ...(precision === "int8" && {precision})});
  const {activationBits: bits} = spotter.kernel.description;
  const about = {who: "ladon", kind, precision, ...(bits && {activation_bits: bits})};
  const options = {attention: false};
  return [
    {...about, part: "chain", logits: x => spotter.spot(x, options).logits, free: () => spotter.free()},
    {...about, part: "model", logits: await modelAlone(host, kind, spotter.encoder), free: () => undefined},
  ];
}

/**
 * Returns a function from features to logits. The package has only a function from sound to logits. Therefore, the
 * returned function calls keywords_front_end.wasm directly.
 */
async function modelAlone(host, kind, encoder) {
  const name = `keywords/keywords_front_end.${kind === "scalar" ? "scalar" : "simd"}.wasm`;
  const {exports} = await WebAssembly.instantiate(await WebAssembly.compile(await host.read(name)));
  exports._initialize();
  const view = (at, length) => new Float32Array(exports.memory.buffer, at, length);
  let at = exports.tensors();
  for (const tensor of ["class_token", "position", "embed.weight", "embed.bias", "head.weight", "head.bias"]) {
    const values = encoder.weights.tensor(tensor, "float32");
    view(at, values.length).set(values);
    at += values.byteLength;
  }
  const features = view(exports.features(), frames * coefficients), y = view(exports.y(), width);
  return values => {
    features.set(values);
    const row = encoder.run(view(exports.compute_x(), tokens * width), {queries: 1});
    y.set(row);
    return view(exports.compute_logits(), 12);
  };
}

/**
 * Loads the tflite files of `peers` into LiteRT.js. Returns an object to measure for each file. Calls report({message})
 * for each file that cannot be loaded.
 */
async function litertOf(host, peers, report) {
  const found = [];
  let peer;
  for (const {part, precision, file} of peers) {
    try {
      peer ??= await host.peer("litert_keywords"); // starts once
      const shape = part === "chain" ? [1, 16000] : [frames, coefficients];
      found.push({who: "litert", kind: peer.kind, part, precision, ...await peer.load(await host.read(file), shape)});
    } catch (error) {
      report({message: `LiteRT.js, ${precision}, ${part}, is left out: ${error.message ?? error}`});
    }
  }
  return found;
}
