// SPDX-License-Identifier: Apache-2.0
// Finds the member of a kernel's weights that a tensor of a checkpoint belongs to.
import type { Description } from "./description.js";
import { type Convention, conventions, type Row } from "./generated/checkpoint-names.js";

/**
 * Returns the member that a tensor belongs to, named as in `Slot`. `name` is the tensor's name without the prefix.
 * Returns undefined if no kernel of this kind has such a tensor.
 */
export type MemberOf = (name: string) => string | undefined;

const layerLists = conventions.map(({ layers }) => `${layers}.`);

type Names = Map<string, string>;

/**
 * Adds the rows of a table of checkpoint names to the map `names`. A row is a role, such as in_proj_weight, and a name
 * in checkpoints. The member `member` + role is mapped to itself. Unless `isOwnOnly`, the checkpoint's name `place` +
 * name is mapped to the member, too.
 */
const addRows = (names: Names, rows: readonly Row[], isOwnOnly: boolean, place = "", member = ""): void => {
  for (const [role, name] of rows) {
    names.set(member + role, member + role);
    if (!isOwnOnly) names.set(place + name, member + role);
  }
};

/**
 * Returns a map from the names of tensors to members. `add` adds the names that one convention gives to the tensors.
 */
const namesOf = (add: (names: Names, convention: Convention) => void): Names => {
  const names: Names = new Map();
  for (const convention of conventions) add(names, convention);
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

const matrixFinder = ({ kind, layout }: Description): MemberOf => {
  // The tensors of checkpoints are (out, in). So a kernel that reads (in, out) accepts only the names of its own
  // members.
  const isOwnOnly = layout === "per_head" || layout === "in_out";
  if (kind === "attention") {
    const names = namesOf((to, { ofAttention }) => addRows(to, ofAttention, isOwnOnly));
    return (name) => names.get(name);
  }
  const ofLayer = namesOf((to, { attention, ofAttention, ofLayer: rows }) => {
    addRows(to, ofAttention, isOwnOnly, `${attention}.`, "attention.");
    addRows(to, rows, isOwnOnly);
  });
  if (kind === "encoder_layer") return (name) => ofLayer.get(name);

  const besideLayers = namesOf((to, { besideLayers: rows }) => addRows(to, rows, isOwnOnly));
  return (name) => {
    const list = layerLists.find((one) => name.startsWith(one));
    if (!list) return besideLayers.get(name);
    const [number = "", ...rest] = name.slice(list.length).split(".");
    const member = ofLayer.get(rest.join("."));
    return member && `layers.${number}.${member}`;
  };
};
