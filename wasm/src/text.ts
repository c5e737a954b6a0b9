// SPDX-License-Identifier: Apache-2.0
/** Returns a value as text, or its type if it has no text: an object without a prototype, or a deeply nested array. */
export const textOf = (value: unknown): string => {
  try {
    return String(value);
  } catch {
    return typeof value;
  }
};
