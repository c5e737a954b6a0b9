// Prints the results of attention: a line after each measurement, and the tables of bench/results.md.
import {cpus} from "node:os";

const peerNames = {ort: "ONNX Runtime Web", tfjs: "TensorFlow.js", litert: "LiteRT.js"};
const percent = (x, width = 0) => `${(100 * x).toFixed(1)}%`.padStart(width);
const number = (x, digits, width = 0) => (x === null ? "-" : x.toFixed(digits)).padStart(width);
const nameOf = ({tokens, model, heads, mask}) => `attention/${tokens},${model},${heads}/${mask}`;
const kindOf = ({who, kind, precision}) => [who === "ladon" ? kind : peerNames[who],
                                            ...(precision === "int8" ? ["int8"] : [])].join(" ");
const contestantOf = ({who, kind, precision}) => `${who === "ladon" ? `Ladon ${kind}` : peerNames[who]} ${precision}`;

export const machine = () => ({cpu: cpus()[0]?.model ?? "unknown", threads: 1});

export class Table {
  #startUp = false;
  #rows = false;

  begin(engine) {
    console.log(`\n${JSON.stringify({...machine(), engine})}`);
  }

  addStartUp(startup) {
    if (!this.#startUp) {
      console.log(`\n${"milliseconds".padEnd(42)}  compile  first call  to full speed  calls  a call then`);
      this.#startUp = true;
    }
    const {compile, first_call, to_full_speed, final_call} = startup.milliseconds;
    console.log(`${nameOf(startup)} ${startup.kind}`.padEnd(42), number(compile, 2, 8), number(first_call, 2, 11),
                number(to_full_speed, 1, 14), number(startup.calls_to_full_speed, 0, 6),
                number(final_call, 3, 12));
    return startup;
  }

  add(row) {
    if (!this.#rows) {
      console.log(`\n${"".padEnd(46)} of peak       quartiles   GFLOP/s      peak  times as fast as`);
      this.#rows = true;
    }
    const {share_of_peak: share, times_as_fast_as: times = {}, form, microseconds_of_binding: cost} = row;
    console.log(`${nameOf(row)} ${kindOf(row)}`.padEnd(46), percent(share.median, 7),
                percent(share.lower, 7), percent(share.upper, 6), number(row.gflops, 1, 9),
                number(row.peak_gflops, 1, 9), "",
                Object.entries(times).map(([name, {median, lower, upper}]) =>
                    `${name} ${number(median, 2)} (${number(lower, 2)} ${number(upper, 2)})`).join(", "),
                cost ? `the binding: ${number(cost.median, 1)} (${number(cost.lower, 1)} ${
                            number(cost.upper, 1)}) us a call` : "", form ?? "");
    return row;
  }

  addProduct(product) {
    const {what, share_of_peak: share, times_as_fast_as: times, form} = product;
    console.log(`${what} ${contestantOf(product)}`.padEnd(58), percent(share.median, 7), percent(share.lower, 7),
                percent(share.upper, 6), number(product.microseconds, 0, 8), "us", number(product.gflops / 2, 1, 7),
                "GMAC/s of", number(product.peak_gflops / 2, 1, 6), "", times.map(each =>
                    `${contestantOf(each)} ${number(each.median, 2)} (${number(each.lower, 2)} ${
                        number(each.upper, 2)})`).join(", "), form ?? "");
    return product;
  }

  static sizes({ladon, binding, peers}) {
    const line = (name, {bytes, gzipped}) => `${name.padEnd(46)}${String(bytes).padStart(10)}${
        String(gzipped).padStart(10)}`;
    return ["", `${"".padEnd(46)}     bytes   gzipped`,
            ...Object.entries(ladon).map(([name, size]) => line(name, size)),
            ...(binding ? [line("the binding, core.js", binding)] : []),
            ...Object.entries(peers).flatMap(([name, {wasm, js}]) => [line(`${peerNames[name]}, wasm`, wasm),
                                                                      line(`${peerNames[name]}, JavaScript`, js)]),
    ].join("\n");
  }
}

const table = (heads, rows) => [heads, heads.map(() => "---"), ...rows].map(cells => `| ${cells.join(" | ")} |`)
    .join("\n");
const quartiles = ({median, lower, upper}, digits = 2) =>
    `${number(median, digits)} (${number(lower, digits)}, ${number(upper, digits)})`;

/** Returns the results as Markdown, for the tables of bench/results.md. */
export function markdown(all) {
  const {machine: {cpu}, precision, sizes, environments} = all;
  if (precision === "int8") return `${environments.flatMap(each => tablesOfInt8(each, cpu)).join("\n\n")}\n`;
  const parts = [];
  for (const {name, engine, rows, start_up} of environments) {
    const cases = [...new Set(rows.map(nameOf))].map(each => rows.filter(row => nameOf(row) === each));
    const kinds = [...new Set(rows.map(({kind}) => kind))];
    const peers = Object.keys(peerNames).filter(each => rows.some(({who}) => who === each));
    const of = (some, who, kind) => some.find(row => row.who === who && (!kind || row.kind === kind));
    const sizesOf = ({tokens, model, heads}) => `${tokens}, ${model}, ${heads}`;
    const speed = row => row ? `${number(row.gflops, 1)} (${number(100 * row.share_of_peak.median, 1)})` : "";
    const peakOf = kind => number(rows.filter(row => row.kind === kind).map(row => row.peak_gflops)
        .sort((a, b) => a - b)[rows.filter(row => row.kind === kind).length >> 1], 1);
    parts.push(`${engine}, ${cpu}. The cells have GFLOP/s and, in parentheses, the percentage of a peak. For\n` +
        `Ladon, the peak is that of the column's kind of module.\nThe medians of these peaks are ${
        kinds.map(kind => `${kind} ${peakOf(kind)}`).join(", ")} GFLOP/s. ` +
        "For the other packages, the peak is the SIMD peak.",
      table(["tokens, model, heads", "mask", ...kinds, ...peers.map(each => peerNames[each])],
            cases.map(some => [sizesOf(some[0]), some[0].mask, ...kinds.map(kind => speed(of(some, "ladon", kind))),
                               ...peers.map(each => speed(of(some, each)))])),
      `Speed-up of Ladon's modules over the other packages in ${name}: the median of the rounds, with ` +
        "the quartiles in\nparentheses:",
      table(["tokens, model, heads", "mask",
             ...peers.flatMap(each => kinds.map(kind => `${kind} / ${peerNames[each]}`))],
            cases.map(some => [sizesOf(some[0]), some[0].mask, ...peers.flatMap(each => kinds.map(kind => {
              const times = of(some, "ladon", kind)?.times_as_fast_as[each];
              return times ? `${number(times.median, 2)} (${number(times.lower, 2)}, ${number(times.upper, 2)})` : "";
            }))])));
    if (start_up.length > 0) {
      parts.push(`Start of a module in ${name}, in milliseconds:`,
        table(["tokens, model, heads", "module", "bytes", "compile", "first call", "to full speed", "calls until then",
               "a call then"],
              start_up.map(row => [sizesOf(row), row.kind, row.bytes, number(row.milliseconds.compile, 2),
                number(row.milliseconds.first_call, 2), number(row.milliseconds.to_full_speed, 1),
                number(row.calls_to_full_speed, 0),
                number(row.milliseconds.final_call, 3)])));
    }
  }
  const size = (name, {bytes, gzipped}) => [name, bytes.toLocaleString("en"), gzipped.toLocaleString("en")];
  parts.push(table(["", "bytes", "gzipped"], [
    ...Object.entries(sizes.ladon).map(([name, each]) => size(name, each)),
    ...(sizes.binding ? [size("the binding, core.js", sizes.binding)] : []),
    ...Object.entries(sizes.peers).flatMap(([name, {wasm, js}]) => [size(`${peerNames[name]}, wasm`, wasm),
                                                                    size(`${peerNames[name]}, JavaScript`, js)]),
  ]));
  return `${parts.join("\n\n")}\n`;
}

function tablesOfInt8({name, engine, rows, products}, cpu) {
  const kinds = [...new Set(rows.map(({kind}) => kind))];
  const cases = [...new Set(rows.map(nameOf))].map(each => rows.filter(row => nameOf(row) === each));
  const of = (some, kind, precision) => some.find(row => row.kind === kind && row.precision === precision);
  const share = row => `${number(row.gflops, 1)} (${number(100 * row.share_of_peak.median, 1)})`;
  const bits = [...rows, ...products].find(row => row.kind === "relaxed" && row.activation_bits)?.activation_bits;
  return [
    `${engine}, ${cpu}. In this engine, relaxed modules have activations of ${bits ?? "no"} bits.\n` +
        "The table has the time and speed of products:",
    table(["", "contestant", "microseconds", "GMAC/s", "% of the ceiling (quartiles)"], products.map(row =>
      [row.what, contestantOf(row), number(row.microseconds, 0), number(row.gflops / 2, 1),
       `${number(100 * row.share_of_peak.median, 1)} (${number(100 * row.share_of_peak.lower, 1)}, ${
           number(100 * row.share_of_peak.upper, 1)})`])),
    "Speed-up of the row's contestant over the column's contestant: the median of the rounds, with the quartiles in\n" +
        "parentheses:",
    ...[...new Set(products.map(({what}) => what))].map(what => timesTable(what, products)),
    `Speed of attention in ${name}. The cells have GFLOP/s and, in parentheses, the percentage of the ceiling:`,
    table(["tokens, model, heads", "mask", ...kinds.flatMap(kind => [kind, `${kind} int8`, "times as fast"])],
      cases.map(some => [`${some[0].tokens}, ${some[0].model}, ${some[0].heads}`, some[0].mask,
        ...kinds.flatMap(kind => [share(of(some, kind, "float32")), ...(of(some, kind, "int8") ?
          [share(of(some, kind, "int8")), quartiles(of(some, kind, "int8").times_as_fast_as.float32)] : ["", ""])])])),
  ];
}

function timesTable(what, products) {
  const some = products.filter(row => row.what === what);
  const ours = some.filter(({who}) => who === "ladon");
  const heads = some.map(contestantOf);
  return table([what, ...heads], ours.map(row => [contestantOf(row), ...heads.map(head => {
    const found = row.times_as_fast_as.find(each => contestantOf(each) === head);
    return found ? quartiles(found) : "";
  })]));
}
