// SPDX-License-Identifier: Apache-2.0
/** The labels of KWT-1, in the order of its logits. "_unknown_" is any other word. */
export const labels = [
  "_silence_",
  "_unknown_",
  "yes",
  "no",
  "up",
  "down",
  "left",
  "right",
  "on",
  "off",
  "stop",
  "go",
] as const;
export type Label = (typeof labels)[number];
