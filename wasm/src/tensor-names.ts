// SPDX-License-Identifier: Apache-2.0
// Knows which tensor of a checkpoint belongs to which member in the C struct of weights.
import type { Description } from "./description.js";
import { type Convention, conventions, type Row } from "./generated/checkpoint-names.js";

/**
 * Maps the name of a tensor in a checkpoint, without the prefix, to the name of a member in the C struct of weights.
 * Returns undefined if kernels of this kind have no such member.
 */
export type MemberOf = (name: string) => string | undefined;

type Names = Map<string, string>;

/**
 * Adds two entries to the map `names` for each of the `rows`. A row [role, name] describes one tensor, for example
 * ["out_proj_weight", "output.dense.weight"]. The C struct calls the tensor `member + role`, and checkpoints call it
 * `place + name`. The keys of the two entries are these two names. Both entries have the name in the C struct as their
 * value. If `isOwnOnly` is true, the entry for the name in checkpoints is left out.
 */
const addRows = (names: Names, rows: readonly Row[], isOwnOnly: boolean, place = "", member = ""): void => {
  for (const [role, name] of rows) {
    names.set(member + role, member + role);
    if (!isOwnOnly) names.set(place + name, member + role);
  }
};

/**
 * Returns a map from names of tensors to members. Calls `add` once for each of the naming conventions, such as BERT's,
 * and `add` inserts the names of this convention.
 */
const namesOf = (among: readonly Convention[], add: (names: Names, convention: Convention) => void): Names => {
  const names: Names = new Map();
  for (const convention of among) add(names, convention);
  return names;
};

/**
 * Extends `memberOf` to scales and row sums: if the tensor X belongs to the member M, X_scale belongs to M_scale, and
 * X_row_sum to M_row_sum.
 */
const withRowTensors =
  (memberOf: MemberOf): MemberOf =>
  (name) => {
    const [, matrix = name, rest = ""] = /^(.*weight)(_scale|_row_sum)$/.exec(name) ?? [];
    const member = memberOf(matrix);
    return member && member + rest;
  };

export const memberFinder = (description: Description): MemberOf => withRowTensors(matrixFinder(description));

const matrixFinder = ({ kind, layers, layout, projectionBlocks, valuesBeforeKeys, memory }: Description): MemberOf => {
  // The checkpoints whose names are known have matrices (out, in), with the rows of queries, keys and values in this
  // order. Other kernels must not accept these names, but only their own names.
  const isOwnOnly = !["in_proj", "separate_qkv"].includes(layout) || Boolean(projectionBlocks ?? valuesBeforeKeys);
  const isDecoder = memory !== undefined;
  const among = conventions.filter(({ cross }) => (cross !== undefined) === isDecoder);
  if (kind === "attention") {
    const names = namesOf(among, (to, { ofAttention }) => addRows(to, ofAttention, isOwnOnly));
    return (name) => names.get(name);
  }
  const ofLayer = namesOf(among, (to, { attention, cross, ofAttention, ofLayer: rows }) => {
    addRows(to, ofAttention, isOwnOnly, `${attention}.`, isDecoder ? "self_attention." : "attention.");
    if (isDecoder) addRows(to, ofAttention, isOwnOnly, `${cross}.`, "cross_attention.");
    addRows(to, rows, isOwnOnly);
  });
  if (layers === undefined) return (name) => ofLayer.get(name);

  const besideLayers = namesOf(among, (to, { besideLayers: rows }) => addRows(to, rows, isOwnOnly));
  const layerLists = among.map((one) => `${one.layers}.`);
  return (name) => {
    const list = layerLists.find((one) => name.startsWith(one));
    if (!list) return besideLayers.get(name);
    const [number = "", ...rest] = name.slice(list.length).split(".");
    const member = ofLayer.get(rest.join("."));
    return member && `layers.${number}.${member}`;
  };
};
