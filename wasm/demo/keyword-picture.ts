// Draws the spectrogram of one second of sound and, above the spectrogram, the attention of the class token in each
// layer.
import type { Spotting } from "../src/keywords.js";
import { fitCanvas } from "./canvas.js";
import { byId, make } from "./dom.js";
import { percent } from "./format.js";
import { heat, onHeatChange } from "./heat.js";

const layers = 12;
const frames = 98;
const bands = 80;
const frameSeconds = 0.01;
/**
 * The range of the colours, in natural logarithms of magnitudes. A band with the logarithm `loudest` has the strongest
 * colour. A band with `loudest - range` or less has the faintest colour. A difference of 8 is 69 dB.
 */
const range = 8;
/**
 * The natural logarithm of the smallest magnitude that can have the strongest colour. If all bands of a sound are
 * quieter, all colours are fainter.
 */
const quiet = 0;

const mel = (hertz: number) => 1127 * Math.log(1 + hertz / 700);
const [lowest, highest] = [mel(20), mel(7600)];

/** A picture. `shares` has the colour of each pixel: the faintest colour for 0 or less, and the strongest for 1. */
interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly shares: Float32Array;
}

/**
 * The attention of the class token in one layer. `share` is the largest weight to a frame, and `frame` is the index of
 * this frame. `toItself` is the weight to the class token itself.
 */
interface Peak {
  readonly frame: number;
  readonly share: number;
  readonly toItself: number;
}

function peakOf([toItself, ...toFrames]: readonly number[]): Peak {
  const share = Math.max(...toFrames);
  return { frame: toFrames.indexOf(share), share, toItself: toItself! };
}

function attentionPixels({ attention }: Spotting, peaks: readonly Peak[]): Pixels {
  const shares = new Float32Array(layers * frames);
  attention.forEach((row, layer) => {
    for (let frame = 0; frame < frames; ++frame) shares[layer * frames + frame] = row[1 + frame]! / peaks[layer]!.share;
  });
  return { width: frames, height: layers, shares };
}

/** Returns the pixels of the spectrogram. The highest band is at the top. */
function soundPixels(values: Float32Array): Pixels {
  const loudest = values.reduce((most, value) => Math.max(most, value), quiet);
  const shares = new Float32Array(bands * frames);
  for (let band = 0; band < bands; ++band) {
    const row = (bands - 1 - band) * frames;
    for (let frame = 0; frame < frames; ++frame)
      shares[row + frame] = 1 + (values[frame * bands + band]! - loudest) / range;
  }
  return { width: frames, height: bands, shares };
}

/**
 * Paints a picture of width x height pixels, stretched to the size of the canvas. `gap` is the space between the rows
 * of the picture, in CSS pixels.
 */
function paint(canvas: HTMLCanvasElement, { width, height, shares }: Pixels, gap = 0): void {
  const context = fitCanvas(canvas, canvas.clientWidth, canvas.clientHeight);
  if (!context) return;
  const small = new OffscreenCanvas(width, height);
  const image = new ImageData(width, height);
  shares.forEach((share, i) => image.data.set([...heat(share).rgb, 255], 4 * i));
  small.getContext("2d")!.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(small, 0, 0, canvas.clientWidth, canvas.clientHeight);
  const rowHeight = canvas.clientHeight / height;
  for (let row = 1; gap > 0 && row < height; ++row)
    context.clearRect(0, row * rowHeight - gap / 2, canvas.clientWidth, gap);
}

export class KeywordPicture {
  readonly #attention = byId("keyword-attention", HTMLCanvasElement);
  readonly #spectrogram = byId("keyword-spectrogram", HTMLCanvasElement);
  readonly #largest = byId("keyword-largest", HTMLElement);
  readonly #seconds = byId("keyword-seconds", HTMLElement);
  readonly #explanation = byId("keyword-explanation", HTMLElement);
  readonly #table = byId("keyword-table", HTMLTableElement);
  #shown: Spotting | undefined;
  #peaks: readonly Peak[] = [];

  constructor() {
    const names = Array.from({ length: layers }, (_, layer) => make("span", {}, String(layer)));
    byId("keyword-layers", HTMLElement).replaceChildren(...names);
    const marks = [250, 1000, 2000, 4000, 7000].map((hertz) => {
      const mark = make("span", {}, hertz < 1000 ? `${hertz} Hz` : `${hertz / 1000} kHz`);
      mark.style.setProperty("--place", String((mel(hertz) - lowest) / (highest - lowest)));
      return mark;
    });
    byId("keyword-hertz", HTMLElement).replaceChildren(...marks);
    const draw = () => this.#draw();
    onHeatChange(draw);
    new ResizeObserver(draw).observe(this.#attention.parentElement!);
  }

  /**
   * Shows the result for one second of sound. With `isLive`, this second ends now, so the time axis goes from "1 s ago"
   * to "now".
   */
  show(spotting: Spotting, isLive: boolean): void {
    this.#shown = spotting;
    this.#peaks = spotting.attention.map((row) => peakOf(Array.from(row)));
    this.#draw();
    const texts = this.#peaks.map(({ share }) => percent(share));
    if (this.#largest.childElementCount !== layers) this.#largest.replaceChildren(...texts.map(() => make("span")));
    texts.forEach((text, i) => (this.#largest.children[i]!.textContent = text));
    const times = isLive ? ["1 s ago", "now"] : [0, 0.5, 1].map((more) => `${(spotting.start + more).toFixed(1)} s`);
    if (this.#seconds.textContent !== times.join("")) {
      this.#seconds.replaceChildren(...times.map((time) => make("span", {}, time)));
    }
  }

  /**
   * Describes the picture in words. While the microphone is on, the page calls this function only after it has found a
   * word, so that the description does not change ten times per second.
   */
  explain(): void {
    if (!this.#shown) return;
    const { start } = this.#shown;
    const timeOf = ({ frame }: Peak) => `${(start + (frame + 1.5) * frameSeconds).toFixed(2)} s`;
    const sharpest = this.#peaks.reduce((best, one) => (one.share > best.share ? one : best));
    this.#explanation.textContent =
      `Layer ${this.#peaks.indexOf(sharpest)} looks most sharply: ` +
      `${percent(sharpest.share)} of its attention goes to the 30 ms around ${timeOf(sharpest)}.`;
    const head = ["Layer", "Looks most at", "Share", "Share of itself"].map((name) =>
      make("th", { scope: "col" }, name),
    );
    const rows = this.#peaks.map((peak, layer) => {
      const cells = [timeOf(peak), percent(peak.share, 1), percent(peak.toItself, 1)].map((text) =>
        make("td", {}, text),
      );
      return make("tr", {}, make("th", { scope: "row" }, String(layer)), ...cells);
    });
    this.#table.replaceChildren(make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows));
  }

  #draw(): void {
    if (!this.#shown) return;
    paint(this.#attention, attentionPixels(this.#shown, this.#peaks), 1);
    paint(this.#spectrogram, soundPixels(this.#shown.bands));
  }
}
