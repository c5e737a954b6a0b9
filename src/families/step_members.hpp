// SPDX-License-Identifier: Apache-2.0
// Calls a function for each member of a step with the member's name: visit("table", step.table).
#pragma once

#include <concepts>
#include <type_traits>

#include "steps.hpp"

namespace ladon::families {

template <class T, class S>
concept Is = std::same_as<std::remove_const_t<T>, S>;

void visit_members(Is<Lookup> auto& s, auto&& visit) {
  visit("step", "lookup");
  visit("table", s.table), visit("rows", s.rows), visit("features", s.features), visit("scale", s.scale);
}
void visit_members(Is<DropToken> auto& s, auto&& visit) { visit("step", "drop_token"), visit("id", s.id); }
void visit_members(Is<AddPositions> auto& s, auto&& visit) {
  visit("step", "add_positions");
  visit("table", s.table), visit("rows", s.rows), visit("first", s.first);
  visit("optional", s.optional), visit("interleaved", s.interleaved), visit("closed", s.closed);
}
void visit_members(Is<AddRow> auto& s, auto&& visit) {
  visit("step", "add_row"), visit("table", s.table), visit("rows", s.rows), visit("row", s.row);
  visit("ids", s.ids);
}
void visit_members(Is<NormRows> auto& s, auto&& visit) {
  visit("step", "norm_rows"), visit("name", s.name), visit("kind", s.kind);
  visit("bias", s.bias), visit("gain", s.gain), visit("epsilon", s.epsilon);
}
void visit_members(Is<LinearRows> auto& s, auto&& visit) {
  visit("step", "linear_rows"), visit("name", s.name), visit("outputs", s.outputs);
  visit("bias", s.bias), visit("after", s.after);
}
void visit_members(Is<Patches> auto& s, auto&& visit) {
  visit("step", "patches"), visit("name", s.name), visit("frames", s.frames), visit("channels", s.channels);
  visit("rows", s.rows), visit("columns", s.columns), visit("patch_frames", s.patch_frames);
  visit("patch_rows", s.patch_rows), visit("patch_columns", s.patch_columns);
  visit("stride_rows", s.stride_rows), visit("stride_columns", s.stride_columns);
  visit("outputs", s.outputs), visit("bias", s.bias), visit("transposed", s.transposed);
}
void visit_members(Is<Prepend> auto& s, auto&& visit) {
  visit("step", "prepend"), visit("tensors", s.tensors), visit("behind", s.behind);
}
void visit_members(Is<Frames> auto& s, auto&& visit) {
  visit("step", "frames"), visit("frames", s.frames), visit("channels", s.channels);
  visit("transposed", s.transposed), visit("exact", s.exact);
}
void visit_members(Is<ConvolveRows> auto& s, auto&& visit) {
  visit("step", "convolve_rows"), visit("name", s.name), visit("outputs", s.outputs), visit("width", s.width);
  visit("stride", s.stride), visit("before", s.before), visit("behind", s.behind), visit("groups", s.groups);
  visit("bias", s.bias), visit("after", s.after), visit("residual", s.residual), visit("weight_norm", s.weight_norm);
  visit("older_names", s.older_names);
}
void visit_members(Is<GroupNormRows> auto& s, auto&& visit) {
  visit("step", "group_norm_rows"), visit("name", s.name), visit("groups", s.groups);
  visit("epsilon", s.epsilon), visit("after", s.after);
}
void visit_members(Is<Apply> auto& s, auto&& visit) { visit("step", "apply"), visit("function", s.function); }
void visit_members(Is<TimeSeriesPatches> auto& s, auto&& visit) {
  visit("step", "time_series_patches"), visit("length", s.length), visit("patch", s.patch), visit("stride", s.stride);
  visit("scaled", s.scaled), visit("minimum", s.minimum);
}
void visit_members(Is<MaskedPatches> auto& s, auto&& visit) {
  visit("step", "masked_patches"), visit("patch", s.patch), visit("least", s.least);
}
void visit_members(Is<ResidualBlock> auto& s, auto&& visit) {
  visit("step", "residual_block"), visit("name", s.name), visit("hidden", s.hidden), visit("outputs", s.outputs);
}
void visit_members(Is<Pool> auto& s, auto&& visit) {
  visit("step", "pool"), visit("pooling", s.pooling), visit("from", s.from), visit("tokens", s.tokens);
  visit("behind_first", s.behind_first);
}
void visit_members(Is<AttentionPool> auto& s, auto&& visit) {
  visit("step", "attention_pool"), visit("name", s.name), visit("heads", s.heads);
  visit("feed_forward", s.feed_forward), visit("activation", s.activation), visit("epsilon", s.epsilon);
}
void visit_members(Is<LinearPair> auto& s, auto&& visit) {
  visit("step", "linear_pair"), visit("first", s.first), visit("second", s.second), visit("outputs", s.outputs);
}
void visit_members(Is<UnitLength> auto&, auto&& visit) { visit("step", "unit_length"); }
void visit_members(Is<TiedHead> auto& s, auto&& visit) {
  visit("step", "tied_head"), visit("scale", s.scale), visit("bias", s.bias);
}
void visit_members(Is<Scale> auto& s, auto&& visit) { visit("step", "scale"), visit("factor", s.factor); }
void visit_members(Is<Softcap> auto& s, auto&& visit) { visit("step", "softcap"), visit("cap", s.cap); }

}  // namespace ladon::families
