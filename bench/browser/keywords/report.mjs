// Prints the figures of KWT-1: a line after each measurement, and the tables of bench/results.md.
import {machine} from "../report.mjs";

const number = (x, digits, width = 0) => x.toFixed(digits).padStart(width);
const quartiles = ({median, lower, upper}) => `${number(median, 2)} (${number(lower, 2)}, ${number(upper, 2)})`;
const nameOf = ({who, kind, precision, activation_bits: bits}) =>
    [who === "ladon" ? `Ladon ${kind}` : "LiteRT.js", precision, bits && `(${bits} bits)`].filter(Boolean).join(" ");
const partNames = {chain: "from sound to logits", model: "from features to logits"};

/** Prints each result of the measurements as a line. */
export class Lines {
  #part;

  begin(engine) {
    console.log(`\n${JSON.stringify({...machine(), engine})}`);
  }

  add(row) {
    if (row.part !== this.#part) console.log(`\n${partNames[this.#part = row.part].padEnd(32)} milliseconds  of peak  times as fast as`);
    console.log(nameOf(row).padEnd(32), number(row.microseconds / 1e3, 3, 12),
                `${number(100 * row.share_of_peak.median, 1, 7)}%`, "",
                row.times_as_fast_as.map(each => `${nameOf(each)} ${quartiles(each)}`).join("; "));
    return row;
  }
}

const table = (heads, rows) => [heads, heads.map(() => "---"), ...rows].map(cells => `| ${cells.join(" | ")} |`)
    .join("\n");

/** Returns the results as Markdown, for the tables of bench/results.md. */
export function markdown({machine: {cpu}, environments}) {
  return `${environments.flatMap(({engine, rows}) => [...new Set(rows.map(({part}) => part))].flatMap(part => {
    const ones = rows.filter(row => row.part === part);
    const others = ones.filter(({who}) => who !== "ladon");
    const times = (row, {precision}) => row.times_as_fast_as.find(each => each.precision === precision);
    return [
      `${engine}, ${cpu}, one thread, ${partNames[part]}:`,
      table(["", "milliseconds", ...others.map(one => `times as fast as ${nameOf(one)} (quartiles)`)],
            ones.map(row => [nameOf(row), number(row.microseconds / 1e3, 3),
                             ...others.map(one => row.who === "ladon" ? quartiles(times(row, one)) : "")])),
    ];
  })).join("\n\n")}\n`;
}
