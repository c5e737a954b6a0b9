// Prints the figures of MiniLM: a line after each measurement, and the tables of bench/results.md.
import {dirname, join} from "node:path";

import {weigh} from "../bundle.mjs";
import {machine} from "../report.mjs";

const peerNames = {transformers: "transformers.js", transformers_wasm_only: "transformers.js, wasm only",
                   ort_minilm: "ONNX Runtime Web"};
const nameOf = ({who, kind, precision, form, activation_bits: bits}) => who === "ladon" ?
    ["Ladon", kind, precision === "int8" && "int8", bits && `(${bits} bits)`].filter(Boolean).join(" ") :
    [peerNames[who], form].filter(Boolean).join(", ");
const number = (x, digits, width = 0) => x.toFixed(digits).padStart(width);
const quartiles = ({median, lower, upper}, digits) =>
    `${number(median, digits)} (${number(lower, digits)}, ${number(upper, digits)})`;

/**
 * Returns the sizes of the files that a page loads besides MiniLM's weights. These files are the code and the module of
 * Ladon's package, and the JavaScript and the wasm of each bundle of transformers.js.
 */
export function sizes(build, index, peers, precision) {
  const ours = ["minilm.js", "core.js", "safetensors.js", ...(precision === "int8" ?
    ["relaxed-dot.js", "modules/minilm_int8.relaxed.wasm"] : ["modules/minilm.relaxed.wasm"])];
  const ladon = Object.fromEntries(ours.map(name => [name, weigh(join(dirname(index), name))]));
  const theirs = Object.entries(peers).flatMap(([name, wasm]) => [
    [`${peerNames[name]}, wasm`, weigh(join(build, wasm))],
    [`${peerNames[name]}, JavaScript`, weigh(join(build, "peers", `${name}.browser.mjs`))]]);
  const sum = part => Object.values(ladon).reduce((total, each) => total + each[part], 0);
  return {...ladon, "Ladon, all of these": {bytes: sum("bytes"), gzipped: sum("gzipped")},
          ...Object.fromEntries(theirs)};
}

export class Lines {
  #begun = {};

  #once(head) {
    if (!this.#begun[head]) console.log(`\n${head}`);
    this.#begun[head] = true;
  }

  begin(engine) {
    console.log(`\n${JSON.stringify({...machine(), engine})}`);
  }

  add(row) {
    this.#once(`tokens ${"".padEnd(48)} milliseconds  of peak  GFLOP/s     peak  times as fast as`);
    const times = (row.times_as_fast_as ?? []).map(each => `${nameOf(each)} ${quartiles(each, 2)}`);
    console.log(String(row.tokens).padStart(6), nameOf(row).padEnd(48), number(row.microseconds / 1e3, 3, 12),
                `${number(100 * row.share_of_peak.median, 1, 7)}%`, number(row.gflops, 1, 8),
                number(row.peak_gflops, 1, 8), "", times.join("; "));
    return row;
  }

  addTokenizing(row) {
    console.log(String(row.tokens).padStart(6), `${nameOf(row)}: its tokenizer`.padEnd(48),
                number(row.microseconds.median / 1e3, 3, 12),
                (row.times_as_fast_as ?? []).map(each => `${quartiles(each, 2)} times as fast`).join());
    return row;
  }

  addCosine(cosine) {
    this.#once(`${"cosine to float32".padEnd(55)} mean    least`);
    console.log(nameOf(cosine).padEnd(54), number(cosine.mean, 5), number(cosine.least, 5));
    return cosine;
  }

  addStart(start) {
    this.#once(`${"milliseconds until".padEnd(48)} code  the model  the first vector (quartiles)`);
    const {code, model, vector} = start.milliseconds;
    console.log(nameOf(start).padEnd(48), number(code.median, 0, 4), number(model.median, 0, 10), "",
                quartiles(vector, 0));
    return start;
  }

  static sizes(all) {
    return ["", `${"".padEnd(46)}     bytes   gzipped`, ...Object.entries(all).map(([name, {bytes, gzipped}]) =>
      `${name.padEnd(46)}${String(bytes).padStart(10)}${String(gzipped).padStart(10)}`)].join("\n");
  }
}

const table = (heads, rows) => [heads, heads.map(() => "---"), ...rows].map(cells => `| ${cells.join(" | ")} |`)
    .join("\n");

/** Returns the results as Markdown, for the tables of bench/results.md. */
export function markdown({machine: {cpu}, precision, sizes: all, environments}) {
  const tablesOf = precision === "int8" ? tablesOfInt8 : tablesOfFloat32;
  const size = ([name, {bytes, gzipped}]) => [name, bytes.toLocaleString("en"), gzipped.toLocaleString("en")];
  return `${[...environments.flatMap(each => tablesOf(each, cpu)),
             table(["", "bytes", "gzipped"], Object.entries(all).map(size))].join("\n\n")}\n`;
}

function tablesOfFloat32({engine, rows, tokenizing, starts}, cpu) {
  const counts = [...new Set(rows.map(({tokens}) => tokens))];
  const names = [...new Set(rows.map(nameOf))];
  const ours = [...new Set(rows.filter(({who}) => who === "ladon").map(({kind}) => kind))];
  const rowOf = (tokens, name) => rows.find(row => row.tokens === tokens && nameOf(row) === name);
  const share = row => row ? `${number(row.microseconds / 1e3, 2)} (${number(100 * row.share_of_peak.median, 0)})` : "";
  const fastestPeer = (tokens, kind) => [...rowOf(tokens, `Ladon ${kind}`).times_as_fast_as]
      .sort((a, b) => a.median - b.median)[0];
  const published = (tokens, kind) => rowOf(tokens, `Ladon ${kind}`).times_as_fast_as
      .find(({who, form}) => who === "transformers" && form === "plain operators");
  const of = each => each ? quartiles(each, 2) : "";
  return [
    `${engine}, ${cpu}. The cells have the milliseconds from a text to its vector and, in\n` +
        "parentheses, the percentage of the peak of this kind of module:",
    table(["tokens", ...names], counts.map(tokens => [tokens, ...names.map(name => share(rowOf(tokens, name)))])),
    "Speed-up of Ladon over the published form of transformers.js and over its fastest form: the median of the rounds, " +
        "with\nthe quartiles in parentheses:",
    table(["tokens", ...ours.flatMap(kind => [`${kind} / published`, `${kind} / fastest`]), "the fastest"],
          counts.map(tokens => [tokens, ...ours.flatMap(kind => [of(published(tokens, kind)),
                                                                 of(fastestPeer(tokens, kind))]),
                                fastestPeer(tokens, ours[0]) ? nameOf(fastestPeer(tokens, ours[0])) : ""])),
    "The time of the tokenizers, in microseconds, is part of these times:",
    table(["tokens", ...new Set(tokenizing.map(nameOf))], counts.map(count => [count, ...tokenizing.filter(
        ({tokens}) => tokens === count).map(({microseconds}) => number(microseconds.median, 0))])),
    ...startTable(starts),
  ];
}

const startTable = starts => starts.length === 0 ? [] : [
  "Milliseconds from a new page to the first vector:",
  table(["", "until the code is loaded", "until the model is loaded", "until the first vector (quartiles)"],
        starts.map(start => [nameOf(start), number(start.milliseconds.code.median, 0),
                             number(start.milliseconds.model.median, 0), quartiles(start.milliseconds.vector, 0)])),
];

function tablesOfInt8({engine, rows, cosines, starts}, cpu) {
  const counts = [...new Set(rows.map(({tokens}) => tokens))];
  const names = [...new Set(rows.map(nameOf))];
  const rowOf = (tokens, name) => rows.find(row => row.tokens === tokens && nameOf(row) === name);
  const ours = names.filter(name => rows.some(row => nameOf(row) === name && row.who === "ladon" &&
                                                     row.precision === "int8"));
  const times = (tokens, name, other) => rowOf(tokens, name)?.times_as_fast_as.find(each => nameOf(each) === other);
  const others = name => names.filter(other => counts.some(tokens => times(tokens, name, other)));
  return [
    `${engine}, ${cpu}. The cells have the milliseconds from a text to its vector and, in\n` +
        "parentheses, the percentage of the ceiling:",
    table(["", ...counts.map(count => `${count} tokens`)], names.map(name => [name, ...counts.map(tokens => {
      const row = rowOf(tokens, name);
      return row ? `${number(row.microseconds / 1e3, 2)} (${number(100 * row.share_of_peak.median, 0)})` : "";
    })])),
    ...ours.flatMap(name => [
      `Speed-up of ${name} over each contestant: the median of the rounds, with the quartiles in parentheses:`,
      table(["contestant", ...counts.map(count => `${count} tokens`)],
            others(name).map(other => [other, ...counts.map(tokens => {
              const found = times(tokens, name, other);
              return found ? quartiles(found, 2) : "";
            })])),
    ]),
    `Cosines between vectors with int8 weights and Ladon's vectors with float32 weights, ${
        cosines[0]?.sentences ?? 0} texts:`,
    table(["", "mean", "least"], cosines.map(each => [nameOf(each), number(each.mean, 5), number(each.least, 5)])),
    ...startTable(starts),
  ];
}
