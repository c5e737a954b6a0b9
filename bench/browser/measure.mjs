// Measures attention in one thread of a page or of Node. The functions of the argument `host` hide the differences
// between page and Node. The results of `read`, `peer` and `binding` are Promises:
//   read(path)      the bytes of a file of the build
//   peer(name)      starts a module of peers/, and gives the module
//   binding(file)   imports a file of the npm package, by default index.js, and gives the module
//   url(path)       the address of a file of the build; the result is a string, not a Promise
import {activationsOf} from "./activations.mjs";
import {describe, inputsFor, instantiate, neededFlops} from "./raw_kernel.mjs";
import {alternate, figures, repeatsFor, spread, timesAsFast} from "./rounds.mjs";
import {warmUp} from "./warm_up.mjs";
import {makePeaks, workOf} from "./work.mjs";

/** Returns the path of an attention module in the build folder. */
export const moduleOf = ({tokens, model, heads, mask}, variant, precision = "float32") =>
    `modules/attention_${tokens}_${model}_${heads}_${mask}${precision === "int8" ? "_int8" : ""}.${variant}.wasm`;

/**
 * Starts the peers, which are the packages that Ladon is compared with. Returns the started peers by name. Calls
 * report({message}) for each peer that cannot be started.
 */
export async function startPeers(host, names, report) {
  const peers = {};
  for (const name of names) {
    try {
      peers[name] = await host.peer(name);
    } catch (error) {
      report({message: `${name} is left out: ${error.message}`});
    }
  }
  return peers;
}

/**
 * Measures the attention of Ladon and of its peers (other packages). Each of `cases` is {tokens, model, heads, mask}.
 * Calls report({row}) for each measured package and report({message}) for each problem.
 */
export async function measure(host, {cases, rounds, milliseconds, peers: names, withBinding}, report) {
  const peaks = await makePeaks(milliseconds, report);
  const peers = await startPeers(host, names, report);
  const binding = withBinding ? await host.binding() : null;
  for (const one of cases) await measureCase({host, peaks, peers, binding, rounds, milliseconds, report}, one);
}

async function measureCase({host, peaks, peers, binding, rounds, milliseconds, report}, one) {
  const contestants = [];
  const enter = async (who, kind, flops, {run}, more = {}) => {
    await warmUp(run);
    contestants.push({who, kind, run, work: workOf(flops, peaks[kind]), repeats: await repeatsFor(run, milliseconds),
                      ...more});
  };
  const frees = [];
  let expected, inputs, flops;
  for (const kind of Object.keys(peaks)) {
    const bytes = await host.read(moduleOf(one, kind));
    const module = await WebAssembly.compile(bytes);
    inputs ??= inputsFor(describe(module));
    flops ??= neededFlops(describe(module), one.mask === "causal");
    const kernel = await instantiate(module, inputs);
    expected ??= kernel.y;
    mustAgree(`Ladon's ${kind} module`, kernel.y, expected);
    await enter("ladon", kind, flops, kernel);
  }
  const [best] = Object.keys(peaks);
  if (binding) {
    const instance = (await binding.load(await host.read(moduleOf(one, best)))).create();
    frees.push(() => instance.free());
    const [inWeight, inBias, outWeight, outBias] = inputs.tensors;
    instance.weights.set({in_proj_weight: inWeight, in_proj_bias: inBias,
                          "out_proj.weight": outWeight, "out_proj.bias": outBias});
    mustAgree("the binding", instance.run(inputs.x), expected);
    await enter("binding", best, flops, {run: () => instance.run(inputs.x)});
  }
  for (const [name, peer] of Object.entries(peers)) {
    const {form, chosen, free} = await fastestForm(peer, {...one, ...inputs}, expected, report);
    if (!chosen) continue;
    frees.push(free);
    await enter(name, "simd", flops, chosen, {form});
  }
  const results = await alternate(contestants, rounds);
  const of = who => contestants.findIndex(each => each.who === who);
  for (const [index, contestant] of contestants.entries()) {
    const {who, kind, form} = contestant;
    if (who === "binding") continue;
    const row = {...one, precision: "float32", who, kind, ...(form && {form}), ...figures(contestant, results[index])};
    if (who === "ladon") {
      row.times_as_fast_as = Object.fromEntries(Object.keys(peers).filter(name => of(name) >= 0).map(
          name => [name, timesAsFast(results[index], results[of(name)])]));
      if (binding && kind === best) {
        row.microseconds_of_binding = spread(results[of("binding")].seconds.map(
            (seconds, round) => 1e6 * (seconds - results[index].seconds[round])));
      }
    }
    report({row});
  }
  for (const free of frees) free();
}

/**
 * Measures Ladon's attention with int8 and with float32 weights in each kind of module (relaxed SIMD, SIMD, scalar).
 * Calls report({row}) with each result.
 */
export async function measureInt8(host, {cases, rounds, milliseconds}, report) {
  const peaks = await makePeaks(milliseconds, report);
  const activations = await activationsOf(host, report);
  for (const one of cases) {
    const contestants = [];
    let expected;
    for (const [kind, precision] of Object.keys(peaks).flatMap(each => [[each, "float32"], [each, "int8"]])) {
      if (precision === "int8" && !activations[kind]) continue;
      const module = await WebAssembly.compile(await host.read(moduleOf(one, kind, precision)));
      const description = describe(module);
      const kernel = await instantiate(module, inputsFor(description), {}, activations[kind]);
      expected ??= kernel.y;
      (precision === "int8" ? mustResemble : mustAgree)(`the ${kind} module of ${precision}`, kernel.y, expected);
      await warmUp(kernel.run);
      contestants.push({kind, precision, run: kernel.run, repeats: await repeatsFor(kernel.run, milliseconds),
                        work: workOf(neededFlops(description, one.mask === "causal"), peaks[kind])});
    }
    const results = await alternate(contestants, rounds);
    for (const [index, contestant] of contestants.entries()) {
      const {kind, precision} = contestant;
      const float32 = contestants.findIndex(each => each.kind === kind && each.precision === "float32");
      report({row: {...one, precision, ...(precision === "int8" && {activation_bits: activations[kind].bits}),
                    who: "ladon", kind, ...figures(contestant, results[index]), times_as_fast_as:
                    precision === "int8" ? {float32: timesAsFast(results[index], results[float32])} : {}}});
    }
  }
}

/** A peer (package) can compute attention in several ways. Returns the fastest way whose result agrees with Ladon's. */
async function fastestForm(peer, {tokens, model, heads, mask, x, tensors}, expected, report) {
  const [inWeight, inBias, outWeight, outBias] = tensors;
  const problem = {tokens, model, heads, causal: mask === "causal", x, w: {inWeight, inBias, outWeight, outBias}};
  return fastestOf(peer.name, peer.forms, problem, (form, y) => mustAgree(form, y, expected), report);
}

/**
 * Measures several ways to solve `problem` with the package `name`, and returns the fastest. `forms` lists the ways as
 * {form, make}: a name, and a function that returns {run, y, free}. Leaves out a way if it fails, or if check(form, y)
 * throws for its result y. Returns {form, chosen, free} for the fastest way, where `chosen` is the object from make().
 * Returns {} if all ways were left out.
 */
export async function fastestOf(name, forms, problem, check, report) {
  const made = [];
  for (const {form, make} of forms) {
    try {
      const chosen = await make(problem);
      await chosen.run();
      check(form, chosen.y());
      made.push({form, chosen, free: chosen.free});
    } catch (error) {
      report({message: `${name}, ${form}, is left out: ${error.message}`});
    }
  }
  for (const one of made) {
    await warmUp(one.chosen.run);
    one.times = [];
  }
  for (let round = 0; round < 15; ++round) {
    for (const {chosen, times} of made) {
      const start = performance.now();
      await chosen.run();
      times.push(performance.now() - start);
    }
  }
  made.sort((a, b) => spread(a.times).median - spread(b.times).median);
  for (const {free} of made.slice(1)) free();
  return made[0] ?? {};
}

/** Throws if a number of y differs from the expected number by more than 1e-4 times the largest expected magnitude. */
export function mustAgree(who, y, expected) {
  const largest = a => a.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const difference = largest(expected.map((value, i) => value - y[i]));  // NaN, which never passes, if y is too short
  if (!(difference <= 1e-4 * largest(expected))) throw new Error(`${who}: y differs by ${difference} from Ladon's`);
}

/** Returns the cosine between two lists of numbers. */
export function cosine(a, b) {
  const dot = (x, y) => x.reduce((sum, value, i) => sum + value * y[i], 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}

/**
 * Throws if the cosine between y and `expected` is below 0.97. y was computed with int8 weights, and `expected` with
 * float32 weights.
 */
export function mustResemble(who, y, expected) {
  const found = y.length === expected.length ? cosine(y, expected) : NaN;
  if (!(found >= 0.97)) throw new Error(`${who}: the cosine to the result of float32 is ${found}`);
}
