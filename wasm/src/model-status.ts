// SPDX-License-Identifier: Apache-2.0
import type { ErrorCode } from "./errors.js";
import { fail } from "./fail.js";

/** Maps values of ladon_model_status (the C header of a model) to the code and the message of an error. */
const errors: Record<number, readonly [ErrorCode, string]> = {
  3: ["weights", "the weights are those of another model, or damaged"],
  4: ["length", "a length is 0, or larger or smaller than the model allows"],
  5: ["length", "a token id is not in the vocabulary"],
  8: ["length", "the text has the largest number of tokens"],
};

/** Throws if a C function of a model returned another status than LADON_MODEL_OK. */
export const checkModelStatus = (status: number): void => {
  if (!status) return;
  const [code, message] = errors[status] ?? ["status", `ladon_model_status ${status}`];
  fail(code, message, undefined, status);
};
