import type { DateReading } from "../src/date-reader.js";

/**
 * Returns the head in which different digits attend most strongly to different characters. For each character, the
 * function takes the largest attention weight that any digit gives to the character. The head with the largest sum of
 * these weights is returned. If all digits of a head attend to one character, the head's sum is small.
 */
export function pointingHead(reading: DateReading, layer: number, heads: number) {
  const seen = Array.from({ length: heads }, (_, head) => {
    const rows = reading.digits.length > 0 ? reading.attention(layer, head) : [];
    return reading.characters.reduce((sum, _c, at) => sum + Math.max(0, ...rows.map((row) => row[at]!)), 0);
  });
  return { layer, head: seen.indexOf(Math.max(...seen)) };
}
