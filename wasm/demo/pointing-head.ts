import type { DateReading } from "../src/date-reader.js";

/**
 * Returns the head with the largest score. The score is the sum, over all characters, of the largest attention weight
 * that any digit gives to the character. A head has a high score if its digits attend to different characters, and a
 * low score if all of them attend to the same character.
 */
export function pointingHead(reading: DateReading, layer: number, heads: number) {
  const seen = Array.from({ length: heads }, (_, head) => {
    const rows = reading.digits.length > 0 ? reading.attention(layer, head) : [];
    return reading.characters.reduce((sum, _c, at) => sum + Math.max(0, ...rows.map((row) => row[at]!)), 0);
  });
  return { layer, head: seen.indexOf(Math.max(...seen)) };
}
