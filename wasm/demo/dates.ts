// The panel of the date reader: a text, the date in the text, and the attention of each digit of the date.
import { DateReader, type DateReading } from "../src/date-reader.js";
import { DateHeads } from "./date-heads.js";
import { DatePicture } from "./date-picture.js";
import { byId, fillFrom, make, settled, showFacts } from "./dom.js";
import { bytes, duration, grouped, percent } from "./format.js";
import { onHeatChange } from "./heat.js";
import { whenIdle } from "./idle.js";
import { memoryOf, moduleFact } from "./module-fact.js";
import { pointingHead } from "./pointing-head.js";
import { timeOf } from "./timing.js";

const refusals: Record<DateReading["status"], string> = {
  date: "",
  "no-date": "not a date it can read",
  empty: "nothing to read",
  "too-long": "longer than 40 characters",
  "not-ascii": "not plain ASCII",
};

export async function start(): Promise<void> {
  const page = new Dates(await DateReader.load());
  page.read();
  await page.reader.kernel.warmUp();
  await page.reader.kernel.warmUp({ attention: true });
  page.measure();
}

class Dates {
  readonly #text = byId("date-text", HTMLInputElement);
  readonly #answer = byId("date-answer", HTMLOutputElement);
  readonly #note = byId("date-note", HTMLElement);
  readonly #explanation = byId("date-explanation", HTMLElement);
  readonly #table = byId("date-table", HTMLTableElement);
  readonly #picture = new DatePicture(() => this.#showHead());
  readonly #heads: DateHeads;
  // Screen readers announce the date only after the user pauses.
  readonly #announce = settled(600, () => this.#answer.setAttribute("aria-live", "polite"));
  readonly #measureLater = settled(250, () => whenIdle(() => this.measure()));
  #reading!: DateReading;

  constructor(readonly reader: DateReader) {
    this.#heads = new DateHeads(reader.layers, reader.heads, () => this.#showHead());
    this.#text.addEventListener("input", () => this.read());
    fillFrom(byId("date-examples", HTMLElement), this.#text);
    const draw = () => this.#draw();
    onHeatChange(draw);
    new ResizeObserver(draw).observe(byId("date-picture", HTMLElement));
    this.#showFacts();
  }

  read(): void {
    const reading = this.reader.read(this.#text.value);
    this.#reading = reading;
    this.#answer.setAttribute("aria-live", "off");
    this.#answer.textContent = reading.date ?? "no date";
    this.#answer.classList.toggle("none", reading.date === null);
    this.#note.textContent = refusals[reading.status];
    this.#announce();
    this.#heads.follow(pointingHead(reading, this.reader.layers - 1, this.reader.heads));
    this.#picture.show(reading);
    this.#draw();
    this.#measureLater();
  }

  measure(): void {
    const text = this.#text.value;
    this.#showFacts(timeOf(() => this.reader.read(text, { attention: false })));
  }

  #draw(): void {
    if (!this.#reading) return;
    this.#heads.draw(this.#reading, this.#picture.digit);
    this.#showHead();
  }

  #showHead(): void {
    const reading = this.#reading;
    const { layer, head } = this.#heads.chosen;
    const { digit } = this.#picture;
    this.#heads.mark(digit);
    if (reading.digits.length === 0) {
      this.#picture.draw([]);
      this.#table.replaceChildren();
      this.#explanation.textContent = "";
      return;
    }
    const rows = reading.attention(layer, head);
    this.#picture.draw(rows);
    this.#fillTable(rows, reading.attentionToDigits(layer, head));
    const onText = rows[digit]!.reduce((sum, share) => sum + share, 0);
    this.#explanation.textContent =
      `Layer ${layer}, head ${head}: ${this.#picture.nameOf(digit)} looks at ${this.#favourites(rows[digit]!)}. ` +
      `${percent(onText)} goes to the text, the rest to the digits themselves.`;
  }

  // Returns the characters with the largest attention weights in `row`, each with its weight in percent.
  #favourites(row: Float32Array): string {
    const names = this.#reading.characters.map((c) => (c === " " ? "a space" : `“${c}”`));
    const ranked = Array.from(row, (share, i) => ({ share, name: names[i]! })).sort((a, b) => b.share - a.share);
    const seen = ranked.filter(({ share }, i) => i === 0 || (i < 3 && share > 0.1));
    return seen.map(({ share, name }) => `${name} (${percent(share)})`).join(", ");
  }

  #fillTable(rows: readonly Float32Array[], toDigits: readonly Float32Array[]): void {
    const { characters, digits } = this.#reading;
    const names = [...characters.map((c) => (c === " " ? "space" : c)), ...digits.map((d) => `digit ${d ?? "–"}`)];
    const head = make("tr", {}, make("td"), ...names.map((name) => make("th", { scope: "col" }, name)));
    const body = rows.map((row, digit) => {
      const cells = [...row, ...toDigits[digit]!].map((share) => make("td", {}, percent(share)));
      return make("tr", {}, make("th", { scope: "row" }, this.#picture.nameOf(digit)), ...cells);
    });
    this.#table.replaceChildren(make("thead", {}, head), make("tbody", {}, ...body));
  }

  #showFacts(milliseconds?: number): void {
    const { kernel, parameters } = this.reader;
    showFacts(byId("date-facts", HTMLElement), [
      ["From text to date", milliseconds === undefined ? "…" : duration(milliseconds), "this text, one thread"],
      moduleFact(kernel),
      ["Weights", bytes(4 * parameters), `${grouped(parameters)} numbers of 4 bytes`],
      ["Memory", bytes(memoryOf(this.reader.encoder, "slot")), `workspace ${bytes(kernel.description.workspace)}`],
    ]);
  }
}
