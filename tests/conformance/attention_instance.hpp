// Instantiates attention for the cases of ONNX's operator Attention. Sizes, masks and other properties of a case are
// template arguments, collected in the struct Form. read.cmake finds the Form of each case, and generate.cmake
// instantiates attention for each Form. At run time, ladon_conformance looks up the instantiation for the Form of a
// case. One call computes one batch entry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>

#include <ladon/ladon.hpp>

namespace conformance {

// The kind of mask that a case contains as a tensor.
enum class Given { none, boolean, boolean_per_head, additive, additive_per_head };

struct Form {
  std::size_t queries, keys, heads, kv_heads, head_width, value_width;
  bool causal = false;
  std::ptrdiff_t left = -1, right = -1;  // the window; -1: unbounded
  Given given = Given::none;
  bool padding = false;  // whether a mask hides padding; false: Entry::active_keys excludes padding
  int stage = -1;        // qk_matmul_output_mode; -1: not captured

  friend bool operator==(const Form&, const Form&) = default;
};

// The arguments of a call, for one batch entry of a case. Some members are used only by some kinds of cases.
struct Entry {
  const float *q, *k, *v;
  float* out;
  float* captured;          // [heads][queries][keys]
  std::size_t active_keys;  // the other keys are padding
  std::ptrdiff_t offset;    // of the first query, for causal masks and windows
  const std::uint8_t* may_see;
  const float* values;
  std::size_t mask_columns;
  const std::uint8_t* padding;
};

struct Instance {
  Form form;
  std::optional<float> scale;
  float softcap;
  void (*run)(const Entry&);
};

// Each source file that generate.cmake writes defines a static object of this type. The object's constructor registers
// the instantiations of the file before main().
struct AttentionInstances {
  AttentionInstances(std::initializer_list<Instance> instances);
};

namespace mask = ladon::mask;

// Part<Mask>::fill sets the data of the mask `Mask` from an Entry. For a combination of several masks, fill is called
// for each of them.
template <class Mask>
struct Part {};
template <>
struct Part<mask::Unmasked> {
  template <class Data>
  static void fill(Data&, const Entry&) {}
};
struct PositionalPart {
  template <class Data>
  static void fill(Data& data, const Entry& entry) {
    data.offset = entry.offset;
  }
};
template <>
struct Part<mask::Causal> : PositionalPart {};
template <std::size_t Left, std::size_t Right>
struct Part<mask::Window<Left, Right>> : PositionalPart {};
template <>
struct Part<mask::Boolean> {
  template <class Data>
  static void fill(Data& data, const Entry& entry) {
    data.may_see = entry.may_see;
    data.keys = entry.mask_columns;
  }
};
template <>
struct Part<mask::BooleanPerHead> : Part<mask::Boolean> {};
template <>
struct Part<mask::Additive> {
  template <class Data>
  static void fill(Data& data, const Entry& entry) {
    data.values = entry.values;
    data.keys = entry.mask_columns;
  }
};
template <>
struct Part<mask::AdditivePerHead> : Part<mask::Additive> {};
template <>
struct Part<mask::Padding> {
  template <class Data>
  static void fill(Data& data, const Entry& entry) {
    data.may_see = entry.padding;
  }
};
template <class A, class B>
struct Part<mask::Both<A, B>> {
  template <class Data>
  static void fill(Data& data, const Entry& entry) {
    Part<A>::fill(data.first, entry);
    Part<B>::fill(data.second, entry);
  }
};

template <class A, class B>
constexpr auto both(A a, B b) {
  if constexpr (std::is_same_v<A, mask::Unmasked>) {
    return b;
  } else if constexpr (std::is_same_v<B, mask::Unmasked>) {
    return a;
  } else {
    return a & b;
  }
}

// Returns the mask for the members `causal`, `left` and `right` of F: a causal mask, a window, or no mask. A causal
// mask combined with a window is a window with 0 keys on the right side, because both masks place the queries at equal
// positions. Every query is fewer than F.keys + F.queries positions from every key. So if `left` or `right` is at least
// F.keys + F.queries, that side of the window hides no key, and its width becomes ladon::all.
template <Form F>
constexpr auto positional() {
  constexpr auto side = [](std::ptrdiff_t width) {
    const bool endless = width < 0 || width >= static_cast<std::ptrdiff_t>(F.keys + F.queries);
    return endless ? ladon::all : static_cast<std::size_t>(width);
  };
  if constexpr (F.causal && F.left < 0) {
    return mask::Causal{};
  } else if constexpr (F.causal) {
    return mask::Window<side(F.left), 0>{};
  } else if constexpr (F.left >= 0 || F.right >= 0) {
    return mask::Window<side(F.left), side(F.right)>{};
  } else {
    return mask::Unmasked{};
  }
}

template <Form F>
constexpr auto given() {
  if constexpr (F.given == Given::boolean) {
    return mask::Boolean{};
  } else if constexpr (F.given == Given::boolean_per_head) {
    return mask::BooleanPerHead{};
  } else if constexpr (F.given == Given::additive) {
    return mask::Additive{};
  } else if constexpr (F.given == Given::additive_per_head) {
    return mask::AdditivePerHead{};
  } else {
    return mask::Unmasked{};
  }
}

template <Form F>
constexpr auto padding() {
  if constexpr (F.padding) {
    return mask::Padding{};
  } else {
    return mask::Unmasked{};
  }
}

template <Form F>
using MaskOf = decltype(both(both(positional<F>(), given<F>()), padding<F>()));

template <Form F, class Score>
void run(const Entry& entry) {
  constexpr ladon::Shape shape{.queries = F.queries,
                               .keys = F.keys,
                               .model = F.heads * F.head_width,
                               .heads = F.heads,
                               .kv_heads = F.kv_heads,
                               .head_width = F.head_width,
                               .value_width = F.value_width};
  using Attention = ladon::Attention<shape, MaskOf<F>, Score>;
  const auto workspace = std::make_unique<typename Attention::Workspace>();
  typename Attention::Options options{};
  options.keys = entry.active_keys;
  Part<MaskOf<F>>::fill(options.mask, entry);
  if constexpr (F.stage < 0) {
    Attention::run(entry.q, entry.k, entry.v, entry.out, *workspace, options);
  } else {
    constexpr ladon::Stage stages[] = {ladon::Stage::scaled, ladon::Stage::capped, ladon::Stage::masked,
                                       ladon::Stage::weights};
    Attention::run(entry.q, entry.k, entry.v, entry.out, *workspace, options,
                   ladon::Capture<stages[F.stage]>{entry.captured});
  }
}

template <Form F, class Score>
constexpr Instance instance() {
  return {F, Score::number, Score::softcap, run<F, Score>};
}

}  // namespace conformance
