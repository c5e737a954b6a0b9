// Converts attention weights to colours. The scale of colours is --heat in the style sheet. The light and the dark
// colour scheme have different scales.

const steps = 256;
// The exponent that is applied to attention weights before they become colours. An exponent below 1 makes small
// attention weights visible.
const power = 0.7;

export type Rgb = readonly [red: number, green: number, blue: number];

export interface Heat {
  readonly ground: string;
  readonly ink: string;
  /** The background colour as numbers from 0 to 255, for the pixels of a canvas. */
  readonly rgb: Rgb;
}

const dark = matchMedia("(prefers-color-scheme: dark)");
let scale = readScale();

/** Returns the background colour of an attention weight, and a text colour with good contrast. */
export function heat(share: number): Heat {
  const place = Math.max(0, Math.min(1, share)) ** power;
  return scale[Math.round(place * (steps - 1))]!;
}

/** Calls the given function whenever the colour scheme has changed, because this also changes the scale of colours. */
export function onHeatChange(callback: () => void): void {
  dark.addEventListener("change", () => {
    scale = readScale();
    callback();
  });
}

/** Paints the scale from left to right. */
export function paintRamp(canvas: HTMLCanvasElement): void {
  canvas.width = 120;
  canvas.height = 1;
  const context = canvas.getContext("2d")!;
  for (let x = 0; x < canvas.width; ++x) {
    context.fillStyle = heat(x / (canvas.width - 1)).ground;
    context.fillRect(x, 0, 1, 1);
  }
}

function readScale(): Heat[] {
  const style = getComputedStyle(document.documentElement);
  const read = (name: string) => style.getPropertyValue(name).trim().split(/\s+/).map(parse);
  const stops = read("--heat");
  const inks = read("--heat-inks");
  return Array.from({ length: steps }, (_, i) => {
    const ground = between(stops, i / (steps - 1));
    const ink = inks.reduce((best, one) => (contrast(one, ground) > contrast(best, ground) ? one : best));
    return { ground: css(ground), ink: css(ink), rgb: ground };
  });
}

function parse(hex: string): Rgb {
  const value = Number.parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

function between(stops: readonly Rgb[], place: number): Rgb {
  const at = place * (stops.length - 1);
  const below = Math.min(Math.floor(at), stops.length - 2);
  const part = at - below;
  const mix = (i: 0 | 1 | 2) => stops[below]![i] * (1 - part) + stops[below + 1]![i] * part;
  return [mix(0), mix(1), mix(2)];
}

// Returns the contrast ratio of WCAG 2.2.
function contrast(a: Rgb, b: Rgb): number {
  const [dim, bright] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (bright! + 0.05) / (dim! + 0.05);
}

function luminance(colour: Rgb): number {
  const [r, g, b] = colour.map((part) => {
    const value = part / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
}

function css([r, g, b]: Rgb): string {
  return `rgb(${Math.round(r)} ${Math.round(g)} ${Math.round(b)})`;
}
