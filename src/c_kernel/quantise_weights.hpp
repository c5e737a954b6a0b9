// SPDX-License-Identifier: Apache-2.0
// Implements the C function NAME_quantise, which makes int8 or int4 weights from float32 weights on the device. NAME.h
// must be included before this file.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/ladon.hpp>

#include "check.hpp"
#include "tensors.hpp"
#include "weights.hpp"

namespace c_kernel::inline LADON_ABI {

// Calls a function of the visitor for each weight, bias and norm tensor. `from` is the C++ struct of the float weights,
// and `to` is the C struct of the quantised weights:
//     tensor                    function         arguments
//     weight of a linear map    visitor.linear   the linear map in `from`; weight, scale and row_sum in `to`
//     bias, vector, norm        visitor.keep     the pointer in `from`; the pointer in `to`
template <class Visitor>
struct PartsVisit {
  Visitor& visitor;

#define LADON_VISIT(part)                                                                          \
  if constexpr (requires { to.part##_weight_scale; }) {                                            \
    visitor.linear(from.part, to.part##_weight, to.part##_weight_scale, to.part##_weight_row_sum); \
  } else if constexpr (requires { to.part##_weight; }) {                                           \
    visitor.keep(from.part.weight.data, to.part##_weight);                                         \
  } else if constexpr (requires { to.part = from.part.data; }) {                                   \
    visitor.keep(from.part.data, to.part);                                                         \
  }                                                                                                \
  if constexpr (requires { to.part##_bias; }) visitor.keep(from.part.bias.data, to.part##_bias);
  template <class From, class To>
  void attention(const From& from, To& to) const {
    LADON_ATTENTION_PARTS(LADON_VISIT)
  }
#define LADON_VISIT_ATTENTION(name) \
  if constexpr (requires { to.name; }) attention(from.name, to.name);
  template <class From, class To>
  void layer(const From& from, To& to) const {
    LADON_ATTENTIONS(LADON_VISIT_ATTENTION)
    LADON_LAYER_PARTS(LADON_VISIT)
  }
#undef LADON_VISIT_ATTENTION
  template <class From, class To>
  void all(const From& from, To& to) const {
    if constexpr (requires { to.layers; }) {
      for (std::size_t i = 0; i < from.layers.size(); ++i) layer(from.layers[i], to.layers[i]);
      LADON_STACK_PARTS(LADON_VISIT)
    } else if constexpr (requires { to.norm1_weight; }) {
      layer(from, to);
    } else {
      attention(from, to);
    }
  }
#undef LADON_VISIT
};

// Checks whether the weights of all linear maps are finite. If `Rotated` is true, checks the weights after the
// rotation, which may make large weights infinite. Does not read the pointers of the quantised weights, which may be
// uninitialised.
template <bool Rotated>
struct FiniteCheck {
  bool finite = true;

  template <class Linear, class Weight>
  void linear(const Linear& from, const Weight*&, const float*&, const std::int32_t*&) {
    const auto* const weights = from.weight.data;
    constexpr std::size_t count = decltype(from.weight)::size;
    finite = finite && ladon::detail::all_weights_finite<Rotated>(weights, count);
  }
  void keep(const float*, const float*&) {}
};

// Makes the quantised tensors in the memory that begins at `next`, and sets their pointers. The integers and scales
// equal the results of ladon::quantise or ladon::quantise_int4 or, if `Rotated` is true, ladon::quantise_rotated or
// ladon::quantise_rotated_int4. The row sums equal the results of ladon::row_sums.
template <bool Rotated>
struct Quantiser {
  std::byte* next;

  template <std::size_t Out, std::size_t In, ladon::Order O, ladon::Bias B, class Weight>
  void linear(const ladon::Linear<Out, In, O, B>& from, const Weight*& weight, const float*& scale,
              const std::int32_t*& row_sum) {
    static_assert(O == ladon::Order::out_in);
    auto* const weights = take<Weight>(Out * ladon::detail::quantised_row_bytes<Weight>(In));
    auto* const scales = take<float>(Out);
    auto* const sums = take<std::int32_t>(Out);
    ladon::detail::quantise_rows<Rotated>(from.weight.data, Out, In, weights, scales, sums);
    weight = weights;
    scale = scales;
    row_sum = sums;
  }
  void keep(const float* from, const float*& to) { to = from; }

 private:
  template <class T>
  T* take(std::size_t count) {
    auto* const taken = reinterpret_cast<T*>(next);
    next += aligned_size(count * sizeof(T));
    return taken;
  }
};

// Implements NAME_quantise. `Floats` is the C++ type of the float weights, and `M` is the model of the kernel. `memory`
// has `bytes` bytes.
template <class Floats, ladon::Model M, class F, class W>
ladon_status quantise_weights(const F* from, W* to, void* memory, std::size_t bytes) {
  constexpr bool rotated = ladon::detail::is_rotated(M.precision);
  Check<2> check;
  check.expect(from != nullptr, LADON_NULL_WEIGHTS);
  check.expect(to != nullptr, LADON_NULL_OUTPUT);
  check.aligned(memory, LADON_NULL_OUTPUT);
  if (!check.ok()) return check.status();
  auto* const begin = static_cast<std::byte*>(memory);
  check.writes(begin, bytes);
  check.writes(to, 1);
  check.reads(from, 1);
  Floats floats;
  WeightsReader<Check<2>, M>{check, 0}.all(*from, floats);
  if (!check.ok()) return check.status();
  FiniteCheck<rotated> finite;
  PartsVisit<FiniteCheck<rotated>>{finite}.all(floats, *to);
  check.expect(finite.finite, LADON_NOT_FINITE);
  if (!check.ok()) return check.status();
  Quantiser<rotated> quantiser{begin};
  PartsVisit<Quantiser<rotated>>{quantiser}.all(floats, *to);
  return LADON_OK;
}

}  // namespace c_kernel::inline LADON_ABI
