// Compares Ladon's products with int8 weights, Ladon's products with float32 weights, and other packages, in one thread
// of a page or of Node. ../measure.mjs describes the argument `host`.
import {activationsOf} from "../activations.mjs";
import {fastestOf, mustAgree, mustResemble, startPeers} from "../measure.mjs";
import {alternate, figures, repeatsFor, timesAsFast} from "../rounds.mjs";
import {warmUp} from "../warm_up.mjs";
import {makePeaks, workOf} from "../work.mjs";
import {instantiateProducts} from "./kernel.mjs";
import {flopsOfProduct, hidden, length, makeChain, model, tokens} from "./numbers.mjs";

const names = {product: `product ${tokens} x ${model} x ${hidden}`, chain: `chain of ${length} products`};
const mustMatch = precision => precision === "int8" ? mustResemble : mustAgree;

/**
 * Calls report({product}) with each result, and report({message}) for each problem. Ladon computes a single matrix
 * product, and the chain of 12 products of numbers.mjs. Other packages compute only the chain.
 */
export async function measureProducts(host, {rounds, milliseconds, peers: peerNames}, report) {
  const peaks = await makePeaks(milliseconds, report);
  delete peaks.scalar;
  const activations = await activationsOf(host, report);
  const peers = await startPeers(host, peerNames, report);
  const chain = makeChain(), contestants = [];
  let expected;
  const enter = async ({what, kind, precision, ...more}, run) => {
    const flops = flopsOfProduct * (what === names.product ? 1 : length);
    await warmUp(run);
    contestants.push({what, kind, precision, ...more, run, repeats: await repeatsFor(run, milliseconds),
                      work: workOf({[precision]: flops}, peaks[kind])});
  };
  for (const [kind, precision] of Object.keys(peaks).flatMap(each => [[each, "float32"], [each, "int8"]])) {
    if (precision === "int8" && !activations[kind]) continue;
    const module = await WebAssembly.compile(await host.read(`modules/products_${precision}.${kind}.wasm`));
    const kernel = await instantiateProducts(module, precision, chain, activations[kind] ?? {bits: 7, isSigned: false});
    kernel.chain();
    expected ??= kernel.y;
    mustMatch(precision)(`the ${kind} module of ${precision}`, kernel.y, expected);
    const bits = precision === "int8" ? {activation_bits: activations[kind].bits} : {};
    for (const run of ["product", "chain"]) {
      await enter({what: names[run], who: "ladon", kind, precision, ...bits}, kernel[run]);
    }
  }
  const frees = [];
  for (const [who, peer] of Object.entries(peers)) {
    for (const precision of new Set(peer.products.map(each => each.precision))) {
      const forms = peer.products.filter(each => each.precision === precision);
      const {form, chosen, free} = await fastestOf(peer.name, forms, {tokens, ...chain},
                                                   (each, y) => mustMatch(precision)(each, y, expected), report);
      if (!chosen) continue;
      frees.push(free);
      await enter({what: names.chain, who, kind: peer.kind ?? "simd", precision, form}, chosen.run);
    }
  }
  reportAll(contestants, await alternate(contestants, rounds), report);
  for (const free of frees) free();
}

function reportAll(contestants, results, report) {
  for (const [index, contestant] of contestants.entries()) {
    const {run, repeats, work, ...said} = contestant;
    const others = contestant.who !== "ladon" ? [] : [...contestants.keys()].filter(other =>
        contestants[other].what === contestant.what && contestants[other] !== contestant &&
        (contestants[other].who !== "ladon" || contestants[other].kind === contestant.kind));
    report({product: {...said, ...figures(contestant, results[index]), times_as_fast_as: others.map(other => {
      const {who, kind, precision} = contestants[other];
      return {who, kind, precision, ...timesAsFast(results[index], results[other])};
    })}});
  }
}
