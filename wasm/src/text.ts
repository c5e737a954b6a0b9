// SPDX-License-Identifier: Apache-2.0
/**
 * Returns a value as text. Some values have no text: a deeply nested array, and an object without a prototype. For such
 * a value, returns its type.
 */
export const textOf = (value: unknown): string => {
  try {
    return String(value);
  } catch {
    return typeof value;
  }
};
