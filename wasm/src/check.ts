// SPDX-License-Identifier: Apache-2.0
// Checks of arguments that several functions of the package share.
import { fail } from "./fail.js";

/** Throws unless `given` is an object whose members all have known names. Undefined members are ignored. */
export const checkOptions = (given: any, known: readonly string[]): void => {
  if (Object(given) !== given) fail("option", "options", `an object of ${known}`, given);
  for (const name in given) {
    if (given[name] !== undefined && !known.includes(name)) fail("option", "option", known, name);
  }
};

/** Returns `value`. Throws unless the value is an integer from `least` to `most`. */
export const checkCount = (name: string, value: any, most: number, least = 0): number =>
  Number.isInteger(value) && value >= least && value <= most
    ? value
    : fail("length", name, `an integer from ${least} to ${most}`, value);

/** Returns whether `source` is a view of a detached buffer: memory that grew, or a buffer that was transferred. */
const isDetached = (source: any): boolean => {
  try {
    if (classOf(source?.buffer) === "ArrayBuffer") source.buffer.slice(0, 0);
    return false;
  } catch {
    return true;
  }
};

/**
 * Throws unless the array `source` has `part` or `all` elements. `part` is the number of elements that this run reads,
 * and `all` is the number for the largest run. The message has `hint` behind the number if both are equal.
 */
export const checkLength = (name: string, source: any, part: number, all: number, hint = ""): void => {
  const length = typeof source === "object" ? source?.length : typeof source;
  if (length !== part && length !== all) {
    if (length === 0 && isDetached(source)) {
      const cause = "the memory of an instance has grown, or the buffer was transferred";
      fail("length", `${name} has lost its numbers, because ${cause}; copy what run returns: run(x).slice()`);
    }
    fail("length", `length of ${name}`, part === all ? all + hint : `${part} or ${all}`, length);
  }
};

/**
 * Returns the name of the built-in class of `value`, such as "ArrayBuffer". Unlike instanceof, also works for an object
 * of another frame or worker.
 */
export const classOf = (value: unknown): string => Object.prototype.toString.call(value).slice(8, -1);

export const checkSignal = (signal: any): void => {
  if (signal != null && classOf(signal) !== "AbortSignal") fail("option", "signal", "an AbortSignal", signal);
};

export const checkProgress = (progress: any): void => {
  if (progress != null && typeof progress !== "function") fail("option", "progress", "a function", progress);
};

/**
 * Returns `value`. Throws "option" if the value is not a number. Without this check, comparing a symbol would throw a
 * TypeError.
 */
export const checkNumber = (name: string, value: any): number =>
  typeof value === "number" ? value : fail("option", name, "a number", value);

/** Throws unless the value has a method `create`, as every kernel has. */
export const checkKernel = (kernel: any): void => {
  if (typeof kernel?.create !== "function") fail("option", "kernel", "what load returns", kernel);
};

/**
 * Throws if JavaScript calls the constructor of a class that only its function `load` makes. `second` is the second
 * argument of the constructor, which `load` always passes.
 */
export const checkLoaded = (name: string, second: unknown): void => {
  if (second === undefined) fail("option", `new ${name}`, `await ${name}.load(...)`, "new");
};

/** Returns `value`. Throws unless the value is a string. */
export const checkText = (name: string, value: unknown): string =>
  typeof value === "string" ? value : fail("option", name, "a string", value);

export const isSize = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

export const product = (extents: readonly number[]): number => extents.reduce((a, b) => a * b, 1);
