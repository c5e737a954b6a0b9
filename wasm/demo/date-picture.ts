// Draws the characters of the text, and below them the digits of the date. Draws lines from each digit to the
// characters that the digit attends to.
import type { DateReading } from "../src/date-reader.js";
import { byId, make } from "./dom.js";
import { percent } from "./format.js";
import { heat } from "./heat.js";

const parts = [
  { name: "year", first: 0, count: 4 },
  { name: "month", first: 4, count: 2 },
  { name: "day", first: 6, count: 2 },
];
const ordinals = ["first", "second", "third", "fourth"];
const leastShare = 0.04; // the smallest attention weight that gets a line
const widestLine = 7;
const svg = "http://www.w3.org/2000/svg";

interface Digit {
  readonly choice: HTMLInputElement;
  readonly face: HTMLElement;
  readonly sure: HTMLElement;
  readonly name: HTMLElement;
  readonly place: string; // such as "the year’s first digit"
}

export class DatePicture {
  readonly #characters = byId("date-characters", HTMLOListElement);
  readonly #links = byId("date-links", SVGSVGElement);
  readonly #digits: Digit[] = [];
  #reading: DateReading | undefined;
  #rows: readonly Float32Array[] = [];
  #pointed: number | undefined; // the digit under the mouse

  constructor(changed: () => void) {
    const set = byId("date-digits", HTMLFieldSetElement);
    for (const part of parts) {
      const places = Array.from({ length: part.count }, (_, i) =>
        this.#addDigit(`the ${part.name}’s ${ordinals[i]} digit`, changed),
      );
      const caption = make("span", { class: "part", "aria-hidden": "true" }, part.name);
      set.append(make("div", { class: "digit-group" }, make("div", { class: "digit-row" }, ...places), caption));
    }
    this.#digits[5]!.choice.checked = true;
  }

  /** The index of the digit under the mouse. If the mouse is elsewhere, the index of the digit that the user chose. */
  get digit(): number {
    return this.#pointed ?? this.#digits.findIndex(({ choice }) => choice.checked);
  }

  /** Returns, for example, "the year’s first digit (2)". */
  nameOf(digit: number): string {
    const value = this.#reading?.digits[digit];
    return `${this.#digits[digit]!.place} (${value ?? "none"})`;
  }

  show(reading: DateReading): void {
    this.#reading = reading;
    this.#characters.style.setProperty("--count", String(Math.max(reading.characters.length, 1)));
    const cells = reading.characters.map((c) =>
      c === " " ? make("li", { class: "space" }, make("span", { class: "unseen" }, "space")) : make("li", {}, c),
    );
    this.#characters.replaceChildren(...cells);
    this.#digits.forEach(({ face, sure, name, place, choice }, at) => {
      const digit = reading.digits[at];
      const certainty = reading.certainty[at] ?? 0;
      const shown = digit === undefined ? "" : digit === null ? "–" : String(digit);
      face.textContent = shown;
      sure.style.setProperty("--share", String(certainty));
      choice.disabled = digit === undefined;
      name.textContent = `${place}: ${shown === "–" ? "none" : shown}, ${percent(certainty, 1)} sure`;
      face.parentElement!.title = shown && `${percent(certainty, 1)} sure`;
    });
  }

  /** Draws the attention from the eight digits to the characters of the text: `rows` is [8][characters]. */
  draw(rows: readonly Float32Array[]): void {
    this.#rows = rows;
    const own = rows[this.digit];
    Array.from(this.#characters.children).forEach((cell, at) => {
      if (!(cell instanceof HTMLElement)) return;
      const { ground, ink } = heat(own?.[at] ?? 0);
      cell.style.backgroundColor = ground;
      cell.style.color = ink;
    });
    this.#digits.forEach(({ face }, at) => face.parentElement!.classList.toggle("shown", at === this.digit));
    this.#drawLinks();
  }

  #addDigit(place: string, changed: () => void): HTMLElement {
    const choice = make("input", { type: "radio", name: "date-digit", class: "unseen" });
    const face = make("span", { class: "face", "aria-hidden": "true" });
    const sure = make("span", { class: "sure", "aria-hidden": "true" });
    const name = make("span", { class: "unseen" });
    const label = make("label", { class: "digit" }, choice, face, sure, name);
    const at = this.#digits.push({ choice, face, sure, name, place }) - 1;
    choice.addEventListener("change", changed);
    const point = (digit: number | undefined) => {
      this.#pointed = digit;
      changed();
    };
    label.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && !choice.disabled && point(at));
    label.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && point(undefined));
    return label;
  }

  #drawLinks(): void {
    const box = this.#links.getBoundingClientRect();
    this.#links.setAttribute("viewBox", `0 0 ${Math.max(box.width, 1)} ${Math.max(box.height, 1)}`);
    const centre = (element: Element) => {
      const { left, width } = element.getBoundingClientRect();
      return left + width / 2 - box.left;
    };
    const tops = Array.from(this.#characters.children, centre);
    const lines = this.#rows.flatMap((row, digit) => {
      const foot = centre(this.#digits[digit]!.face);
      return Array.from(row, (share, at) => ({ share, digit, foot, top: tops[at]! }));
    });
    const drawn = lines.filter(({ share }) => share >= leastShare).sort((a, b) => a.share - b.share);
    const own = drawn.filter(({ digit }) => digit === this.digit);
    const others = drawn.filter(({ digit }) => digit !== this.digit);
    this.#links.replaceChildren(
      ...[...others, ...own].map(({ share, digit, foot, top }) => {
        const path = document.createElementNS(svg, "path");
        const middle = box.height / 2;
        path.setAttribute("d", `M${foot} ${box.height}C${foot} ${middle} ${top} ${middle} ${top} 0`);
        path.setAttribute("stroke-width", String(0.75 + share * (widestLine - 0.75)));
        path.classList.add(digit === this.digit ? "own" : "other");
        if (digit === this.digit) path.style.stroke = heat(0.25 + 0.75 * share).ground;
        return path;
      }),
    );
  }
}
