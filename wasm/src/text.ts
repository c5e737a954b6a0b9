// SPDX-License-Identifier: Apache-2.0
/**
 * Returns a value as text. Returns the type of the value if the value has no text, as an object without a prototype or
 * a deeply nested array.
 */
export const textOf = (value: unknown): string => {
  try {
    return String(value);
  } catch {
    return typeof value;
  }
};
