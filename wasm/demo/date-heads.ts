// Draws the attention of all heads of the date reader as small pictures. The user chooses one of the pictures. In each
// picture, a row shows the attention weights of one digit of the date. The left columns are the characters of the text.
// The right columns, after a gap, are the digits, because digits also attend to digits.
import type { DateReading } from "../src/date-reader.js";
import { fitCanvas } from "./canvas.js";
import { byId, make } from "./dom.js";
import { heat } from "./heat.js";

const slots = 8;
const gap = 1; // width of the gap between characters and digits, in cells
const letterRoom = 14;

export interface Place {
  readonly layer: number;
  readonly head: number;
}

interface Panel extends Place {
  readonly choice: HTMLInputElement;
  readonly canvas: HTMLCanvasElement;
  readonly label: HTMLElement;
  readonly badge: HTMLElement;
}

export class DateHeads {
  readonly #panels: Panel[] = [];
  #picked = false; // true after the user chose a head; before, the pointing head is chosen
  #drawn: { reading: DateReading; digit: number } | undefined;

  constructor(layers: number, heads: number, changed: () => void) {
    const set = byId("date-heads", HTMLFieldSetElement);
    for (let layer = 0; layer < layers; ++layer) {
      for (let head = 0; head < heads; ++head) set.append(this.#addPanel(layer, head, changed));
    }
    this.#panels[0]!.choice.checked = true;
  }

  get chosen(): Place {
    return this.#panels.find(({ choice }) => choice.checked)!;
  }

  /**
   * `pointing` is the head whose digits attend to different characters of the text (pointing-head.ts). Shows a badge on
   * the picture of this head. Also chooses this head if the user has not chosen a head.
   */
  follow(pointing: Place): void {
    for (const { layer, head, choice, badge } of this.#panels) {
      const points = layer === pointing.layer && head === pointing.head;
      badge.hidden = !points;
      if (points && !this.#picked) choice.checked = true;
    }
  }

  draw(reading: DateReading, digit: number): void {
    this.#drawn = { reading, digit };
    for (const panel of this.#panels) this.#drawPanel(panel, reading, digit);
  }

  /** Draws a frame around the row of `digit` in each picture. */
  mark(digit: number): void {
    if (this.#drawn && this.#drawn.digit !== digit) this.draw(this.#drawn.reading, digit);
  }

  #addPanel(layer: number, head: number, changed: () => void): HTMLElement {
    const choice = make("input", { type: "radio", name: "date-head", class: "unseen" });
    const canvas = make("canvas", { "aria-hidden": "true" });
    const badge = make(
      "span",
      { class: "badge", hidden: true, title: "its digits look straight at the characters they copy" },
      "points",
    );
    const label = make(
      "label",
      { class: "head" },
      choice,
      make("span", { class: "name" }, `layer ${layer}, head ${head}`, badge),
      canvas,
    );
    choice.addEventListener("change", () => {
      this.#picked = true;
      changed();
    });
    this.#panels.push({ layer, head, choice, canvas, label, badge });
    return label;
  }

  #drawPanel({ layer, head, canvas }: Panel, reading: DateReading, digit: number): void {
    const { width, height } = canvas.getBoundingClientRect();
    const context = fitCanvas(canvas, width, height);
    if (!context) return;
    const count = reading.characters.length;
    const cell = width / (count + gap + slots);
    const row = (height - letterRoom) / slots;
    const left = (column: number) => (column < count ? column : column + gap) * cell;
    const top = (slot: number) => letterRoom + slot * row;
    const style = getComputedStyle(canvas);

    context.fillStyle = heat(0).ground;
    context.fillRect(0, letterRoom, count * cell, slots * row);
    context.fillRect(left(count), letterRoom, slots * cell, slots * row);
    if (reading.digits.length === 0) return;
    const text = reading.attention(layer, head);
    const digits = reading.attentionToDigits(layer, head);
    text.forEach((shares, slot) => {
      [...shares, ...digits[slot]!].forEach((share, column) => {
        context.fillStyle = heat(share).ground;
        if (share > 0.003) context.fillRect(left(column), top(slot), cell + 0.3, row + 0.3);
      });
    });

    context.fillStyle = style.color;
    context.font = `${Math.min(11, cell * 1.5)}px ${style.fontFamily}`;
    context.textAlign = "center";
    const letters = [...reading.characters, ...reading.digits.map((value) => String(value ?? "–"))];
    letters.forEach((letter, column) => context.fillText(letter, left(column) + cell / 2, letterRoom - 4));
    context.strokeStyle = style.borderTopColor;
    context.strokeRect(0.5, Math.round(top(digit)) - 0.5, width - 1, Math.round(row) + 1);
  }
}
