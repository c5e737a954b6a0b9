import type { DateReading } from "../src/date-reader.js";

/**
 * Returns the head whose digits point best to different characters. For each character, takes the largest attention
 * weight that any digit gives to the character. A head's score is the sum of these weights. The score is small if all
 * digits of the head attend to the same character.
 */
export function pointingHead(reading: DateReading, layer: number, heads: number) {
  const seen = Array.from({ length: heads }, (_, head) => {
    const rows = reading.digits.length > 0 ? reading.attention(layer, head) : [];
    return reading.characters.reduce((sum, _c, at) => sum + Math.max(0, ...rows.map((row) => row[at]!)), 0);
  });
  return { layer, head: seen.indexOf(Math.max(...seen)) };
}
