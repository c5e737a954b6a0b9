// SPDX-License-Identifier: Apache-2.0
// Finds, for a tensor of a checkpoint, the member of the kernel's weights that takes the tensor.
import type { Description } from "./description.js";
import { type Convention, conventions, type Row } from "./generated/checkpoint-names.js";

/**
 * Returns the name of the member that takes a tensor of a checkpoint, as in `Slot`. `name` is the tensor's name without
 * the checkpoint's prefix. Returns undefined if no kernel with the same `kind` (Description) has such a member.
 */
export type MemberOf = (name: string) => string | undefined;

const layerLists = conventions.map(({ layers }) => `${layers}.`);

type Names = Map<string, string>;

/**
 * Adds names of tensors and their members to the map `names`. A row of `rows` has a role, such as in_proj_weight, and
 * the name of this role in checkpoints. The name of the member is `member` + role. `names` maps the member's name to
 * itself. Unless `isOwnOnly`, `names` also maps the checkpoint's name, `place` + name, to the member.
 */
const addRows = (names: Names, rows: readonly Row[], isOwnOnly: boolean, place = "", member = ""): void => {
  for (const [role, name] of rows) {
    names.set(member + role, member + role);
    if (!isOwnOnly) names.set(place + name, member + role);
  }
};

/**
 * Returns a map from the names of tensors to members. Calls `add` for each naming convention. `add` adds the names of
 * the convention to the map.
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
