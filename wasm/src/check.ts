// What callers give, checked alike wherever they give it.
import { fail } from "./errors.js";

/** That options are an object, and all of them known. */
export const checkOptions = (given: any, known: readonly string[]): void => {
  if (Object(given) !== given) fail("option", "options", `an object of ${known}`, given);
  for (const name in given) {
    if (given[name] !== undefined && !known.includes(name)) fail("option", "option", known, name);
  }
};

export const count = (name: string, value: any, most: number, least = 0): number =>
  Number.isInteger(value) && value >= least && value <= most
    ? value
    : fail("length", name, `an integer from ${least} to ${most}`, value);

/** That an array has as many numbers as take part, or as there is room for. */
export const checkLength = (name: string, source: any, part: number, all: number): void => {
  const length = typeof source === "object" ? source?.length : typeof source;
  if (length !== part && length !== all) {
    fail("length", `length of ${name}`, part === all ? all : `${part} or ${all}`, length);
  }
};

export const checkSignal = (signal: any): void => {
  if (signal && !("aborted" in Object(signal))) fail("option", "signal", "an AbortSignal", signal);
};
