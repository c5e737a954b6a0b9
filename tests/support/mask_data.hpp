// Defines MaskOf for each mask type of the library. MaskOf<Mask>::form is the MaskForm (forms.hpp), which describes the
// mask for the oracle. MaskOf<Mask>::fill fills the data of the mask from a Call (subject.hpp).
#pragma once

#include "subject.hpp"

namespace ladon_test {

using CausalAndPadding = decltype(ladon::mask::Causal{} & ladon::mask::Padding{});

template <MaskForm Form>
struct MaskParts {
  static constexpr MaskForm form = Form;
  static constexpr bool causal = Form.causal, padding = Form.padding;
};
template <class Mask>
struct MaskOf;
template <>
struct MaskOf<ladon::mask::Unmasked> : MaskParts<MaskForm{}> {
  static void fill(auto&, const Call&) {}
};
template <>
struct MaskOf<ladon::mask::Causal> : MaskParts<MaskForm{.causal = true}> {
  static void fill(auto& data, const Call& call) {
    if (call.offset != bottom_right) data.offset = call.offset;
  }
};
template <std::size_t Left, std::size_t Right>
struct MaskOf<ladon::mask::Window<Left, Right>> : MaskParts<MaskForm{.window = true, .left = Left, .right = Right}> {
  static void fill(auto& data, const Call& call) {
    if (call.offset != bottom_right) data.offset = call.offset;
  }
};
template <std::ptrdiff_t Offset>
struct MaskOf<ladon::mask::CausalAt<Offset>>
    : MaskParts<MaskForm{.causal = true, .fixed_offset = true, .offset = Offset}> {
  static void fill(auto&, const Call&) {}
};
template <std::size_t Left, std::size_t Right, std::ptrdiff_t Offset>
struct MaskOf<ladon::mask::WindowAt<Left, Right, Offset>>
    : MaskParts<MaskForm{.window = true, .left = Left, .right = Right, .fixed_offset = true, .offset = Offset}> {
  static void fill(auto&, const Call&) {}
};
template <>
struct MaskOf<ladon::mask::Padding> : MaskParts<MaskForm{.padding = true}> {
  static void fill(auto& data, const Call& call) { data.may_see = call.may_see; }
};
template <>
struct MaskOf<ladon::mask::Bits> : MaskParts<MaskForm{.bits = true}> {
  static void fill(auto& data, const Call& call) { data.bits = call.bits; }
};
template <MaskForm Form>
struct PairsOf : MaskParts<Form> {
  static void fill(auto& data, const Call& call) {
    data.may_see = call.pairs;
    data.keys = call.mask_keys;
  }
};
template <>
struct MaskOf<ladon::mask::Boolean> : PairsOf<MaskForm{.boolean = true}> {};
template <>
struct MaskOf<ladon::mask::BooleanPerHead> : PairsOf<MaskForm{.boolean_per_head = true}> {};
template <MaskForm Form>
struct ValuesOf : MaskParts<Form> {
  static void fill(auto& data, const Call& call) {
    data.values = call.values;
    data.keys = call.mask_keys;
  }
};
template <>
struct MaskOf<ladon::mask::Additive> : ValuesOf<MaskForm{.additive = true}> {};
template <>
struct MaskOf<ladon::mask::AdditivePerHead> : ValuesOf<MaskForm{.additive_per_head = true}> {};
template <>
struct MaskOf<ladon::mask::Alibi> : MaskParts<MaskForm{.alibi = true}> {
  static void fill(auto& data, const Call& call) {
    data.slopes = call.slopes;
    if (call.offset != bottom_right) data.offset = call.offset;
  }
};
template <>
struct MaskOf<ladon::mask::Relative> : MaskParts<MaskForm{.relative = true}> {
  template <class Data>
  static void fill(Data& data, const Call&) {
    using Table = std::remove_cvref_t<decltype(*data.table)>;
    static const Table table = table_of(static_cast<const Table*>(nullptr));
    data.table = &table;
  }
  template <std::size_t Heads, std::size_t Tokens>
  static ladon::RelativeTable<Heads, Tokens> table_of(const ladon::RelativeTable<Heads, Tokens>*) {
    ladon::RelativeTable<Heads, Tokens> table;
    constexpr std::ptrdiff_t last = Tokens - 1;
    for (std::size_t h = 0; h < Heads; ++h) {
      for (std::ptrdiff_t distance = -last; distance <= last; ++distance) {
        table.set(h, distance, relative_number(h, distance));
      }
    }
    return table;
  }
};
template <class A, class B>
struct MaskOf<ladon::mask::Both<A, B>> : MaskParts<(MaskOf<A>::form & MaskOf<B>::form)> {
  static void fill(auto& data, const Call& call) {
    MaskOf<A>::fill(data.first, call);
    MaskOf<B>::fill(data.second, call);
  }
};

template <class Mask, ladon::Shape S>
typename Mask::template Data<S> data_of(const Call& call) {
  typename Mask::template Data<S> data{};
  MaskOf<Mask>::fill(data, call);
  return data;
}

}  // namespace ladon_test
