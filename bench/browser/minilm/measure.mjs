// MiniLM, a text to its vector, by the package and by transformers.js, in one thread of a page or of Node. The host is
// that of ../measure.mjs.
import {mustAgree} from "../measure.mjs";
import {kinds, makePeak, runs} from "../../../wasm/engine/peak.mjs";
import {alternate, figures, pause, repeatsFor, spread, timesAsFast, warmUp} from "../rounds.mjs";
import {models} from "./models.mjs";
import {textOf} from "./texts.mjs";

const [layers, model] = [6, 384];
/** Needed flops of the encoder's layers: projections, feed-forward, attention. */
const neededFlops = tokens => layers * (24 * tokens * model ** 2 + 4 * tokens ** 2 * model);

/** Calls report({row}), report({tokenizing}) or report({message}) as things are done. */
export async function measureMiniLm(host, {tokens: counts, rounds, milliseconds, peers}, report) {
  const peaks = {};
  for (const kind of kinds.filter(runs)) peaks[kind] = await makePeak(kind, {milliseconds});
  const [best] = Object.keys(peaks);
  const entrants = [];
  for (const kind of Object.keys(peaks)) entrants.push(await ladonOf(host, kind));
  for (const name of peers) entrants.push(...await formsOf(host, name, report));
  for (const tokens of counts) {
    const text = textOf(tokens, entrants[0].ids);
    const agreeing = await thoseThatAgree(entrants, text, report);
    const contestants = [];
    const enter = async ({who, kind, form}, run, more = {}) => {
      await warmUp(run);
      contestants.push({who, kind, form, run, flops: neededFlops(tokens), peak: peaks[kind],
                        repeats: await repeatsFor(run, milliseconds), ...more});
    };
    for (const one of agreeing) await enter(one, () => one.embed(text));
    const tokenizers = agreeing.filter(one => one.kind === best || one.who !== "ladon")
        .filter((one, i, all) => all.findIndex(({who}) => who === one.who) === i).slice(0, 2);
    for (const one of tokenizers) await enter(one, () => one.ids(text), {tokenizes: true});
    reportAll(tokens, contestants, await alternate(contestants, rounds), report);
  }
  for (const {free} of entrants) await free();
}

/** MiniLM of the package in modules of a kind; of the best there is, where none is named. */
async function ladonOf(host, kind) {
  const {SentenceEncoder} = await host.binding("minilm.js");
  const encoder = await SentenceEncoder.load({weights: new URL(host.url("minilm/model.safetensors")), variant: kind,
                                              vocabulary: new URL(host.url("minilm/vocab.txt"))});
  return {who: "ladon", kind, embed: text => encoder.embed(text), ids: text => encoder.ids(text),
          free: () => encoder.free()};
}

/** Every form of the model that a build of transformers.js can load. */
async function formsOf(host, name, report) {
  const found = [];
  try {
    const peer = await host.peer(name);
    for (const form of Object.keys(models)) {
      found.push({who: name, kind: "simd", form, ...await peer.load(form)});
    }
  } catch (error) {
    report({message: `${name} is left out: ${error.message}`});
  }
  return found;
}

/** A peer that makes other ids, or another vector, is left out; Ladon's kinds must agree. */
async function thoseThatAgree([first, ...others], text, report) {
  const agreeing = [first], ids = first.ids(text).join(), expected = await first.embed(text);
  for (const one of others) {
    try {
      if (one.ids(text).join() !== ids) throw new Error(`the ids of "${text}" are ${one.ids(text)}, not ${ids}`);
      mustAgree([one.who, one.kind, one.form].join(" "), await one.embed(text), expected);
      agreeing.push(one);
    } catch (error) {
      if (one.who === "ladon") throw error;
      report({message: `${one.who}, ${one.form}, is left out: ${error.message}`});
    }
  }
  return agreeing;
}

function reportAll(tokens, contestants, results, report) {
  const peersOf = tokenizes => [...contestants.keys()].filter(
      i => contestants[i].who !== "ladon" && contestants[i].tokenizes === tokenizes);
  for (const [index, contestant] of contestants.entries()) {
    const {who, kind, form, tokenizes} = contestant;
    const times = who !== "ladon" ? {} : {times_as_fast_as: peersOf(tokenizes).map(
        i => ({who: contestants[i].who, form: contestants[i].form, ...timesAsFast(results[index], results[i])}))};
    if (tokenizes) {
      report({tokenizing: {tokens, who, microseconds: spread(results[index].seconds.map(s => 1e6 * s)), ...times}});
    } else {
      report({row: {tokens, who, kind, ...(form && {form}), ...figures(contestant, results[index]), ...times}});
    }
  }
}

/**
 * report({start}) of one that this page, or process, has not seen before, milliseconds: until its code is there, until
 * the model is, and until the first vector is.
 */
export async function startMiniLm(host, {who, form, tokens}, report) {
  await pause(500);  // until the browser has done with its own start
  const text = textOf(tokens, () => ({length: tokens}));
  const begin = performance.now(), past = () => performance.now() - begin;
  try {
    const peer = who === "ladon" ? await host.binding("minilm.js") : await host.peer(who);
    const code = past();
    const one = who === "ladon" ? await ladonOf(host) : await peer.load(form);
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
