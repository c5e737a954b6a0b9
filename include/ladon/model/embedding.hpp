// SPDX-License-Identifier: Apache-2.0
// Converts token ids to rows [tokens][width]. Other functions add to these rows: a row for each position, a row for
// the type of each token, or one row to every token. A table is a linear map without a bias, so that the head of a
// language model may read the same weights:
//     ladon::embed(table, ids, tokens, x);                 x [tokens][width]
//     ladon::LinearRows<1, rows, width, ladon::Order::out_in, ladon::Bias::without>::run(x, table, logits, workspace);
#pragma once

#include <ladon/detail/config/quiet_begin.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ladon/bfloat16.hpp>
#include <ladon/checks.hpp>
#include <ladon/detail/panel/rows.hpp>
#include <ladon/detail/vec/elementary.hpp>
#include <ladon/views.hpp>
#include <ladon/weights.hpp>

namespace LADON_NAMESPACE {

// `embed` rejects 4-bit weights.
template <std::size_t Rows, std::size_t Width, class Precision = precision::Float32>
using EmbeddingTable = Linear<Rows, Width, Order::out_in, Bias::without, Precision>;

// Returns whether all ids are rows of a table of `rows` rows.
constexpr bool has_ids(std::size_t rows, const std::int32_t* ids, std::size_t tokens) noexcept {
  for (std::size_t t = 0; t < tokens; ++t) {
    if (ids[t] < 0 || static_cast<std::size_t>(ids[t]) >= rows) return false;
  }
  return true;
}
// Returns whether all ids are rows of the table.
template <std::size_t Rows, std::size_t Width, class Precision>
constexpr bool has_ids(const Linear<Rows, Width, Order::out_in, Bias::without, Precision>&, const std::int32_t* ids,
                       std::size_t tokens) noexcept {
  return has_ids(Rows, ids, tokens);
}

// Writes scale * table[ids[t]] to row t of `y` [tokens][Width]. Rotated rows of int8 tables are rotated back. With
// scale 1, each number of an int8 row is rounded once. Precondition: has_ids. `y` must not overlap the other arrays.
template <std::size_t Rows, std::size_t Width, class Precision>
constexpr void embed(const Linear<Rows, Width, Order::out_in, Bias::without, Precision>& table, const std::int32_t* ids,
                     std::size_t tokens, float* y, float scale = 1) noexcept {
  LADON_EXPECTS(has_ids(table, ids, tokens), "ladon: a token id is not a row of the embedding table",
                detail::caller_of(table), {{"rows", Rows}});
  for (std::size_t t = 0; t < tokens; ++t, y += Width) {
    const auto row = table.rows_from(static_cast<std::size_t>(ids[t]));
    const auto* const weight = row.weight.data;
    if constexpr (precision::is_int8<Precision>) {
      static_assert(std::is_same_v<decltype(weight), const std::int8_t* const>,
                    "ladon: an embedding table has no 4-bit weights; take int8");
      for (std::size_t i = 0; i < Width; ++i) y[i] = static_cast<float>(weight[i]);
      // The rotation matrix times itself is 8 times the identity, and the scale of a rotated row contains the factor
      // 1 / 8. Sums of the integers are exact.
      if constexpr (Linear<Rows, Width, Order::out_in, Bias::without, Precision>::rotated)
        detail::rotate_blocks(y, Width, 1, y);
      for (std::size_t i = 0; i < Width; ++i) y[i] = y[i] * row.scale[0] * scale;
    } else {
      for (std::size_t i = 0; i < Width; ++i) y[i] = to_float(weight[i]) * scale;
    }
  }
}

// Adds one row to each row of `x` [tokens][Width].
template <std::size_t Width>
constexpr void add_row(VectorView<const float, Width> row, std::size_t tokens, float* x) noexcept {
  for (std::size_t t = 0; t < tokens; ++t, x += Width) {
    for (std::size_t i = 0; i < Width; ++i) x[i] += row.data[i];
  }
}

// Adds row types[t] of the table to row t of `x` [tokens][Width]. A null pointer as `types` stands for types of 0.
// Precondition: each type is a row of the table.
template <std::size_t Rows, std::size_t Width>
constexpr void add_types(MatrixView<const float, Rows, Width> table, const std::int32_t* types, std::size_t tokens,
                         float* x) noexcept {
  LADON_EXPECTS(types == nullptr || has_ids(Rows, types, tokens), "ladon: a token type is not a row of the table", {},
                {{"rows", Rows}});
  for (std::size_t t = 0; t < tokens; ++t, x += Width) {
    const std::size_t type = types == nullptr ? 0 : static_cast<std::size_t>(types[t]);
    add_row(VectorView<const float, Width>(table.data + type * Width), 1, x);
  }
}

// Adds row first + t of the table to row t of `x` [tokens][Width]. Precondition: first + tokens <= Rows.
template <std::size_t Rows, std::size_t Width>
constexpr void add_positions(MatrixView<const float, Rows, Width> table, std::size_t first, std::size_t tokens,
                             float* x) noexcept {
  LADON_EXPECTS(tokens <= Rows && first <= Rows - tokens, "ladon: the table has fewer positions", {},
                {{"first", first}, {"tokens", tokens}, {"rows", Rows}});
  for (std::size_t t = 0; t < tokens; ++t, x += Width) {
    add_row(VectorView<const float, Width>(table.data + (first + t) * Width), 1, x);
  }
}

// A table that a program computes.
template <std::size_t Rows, std::size_t Width>
struct PositionTable {
  float rows[Rows][Width];
};

template <std::size_t Rows, std::size_t Width>
constexpr void add_positions(const PositionTable<Rows, Width>& table, std::size_t first, std::size_t tokens,
                             float* x) noexcept {
  LADON_EXPECTS(tokens <= Rows && first <= Rows - tokens, "ladon: the table has fewer positions", {},
                {{"first", first}, {"tokens", tokens}, {"rows", Rows}});
  for (std::size_t t = 0; t < tokens; ++t, x += Width) {
    add_row(VectorView<const float, Width>(table.rows[first + t]), 1, x);
  }
}

// The sinusoids of a table (arXiv 1706.03762, section 3.5). A row has n sines and n cosines of the angles
//     angle(p, i) = p / 10000^(2 i / Width), or with `closed` p / 10000^(i / (n - 1)), for the row p and i < n
struct SinusoidKind {
  bool interleaved = false;  // sine, cosine, sine, .. (VideoMAE); otherwise all sines, then all cosines (BART, Marian)
  bool closed = false;       // the last angle is p / 10000 (fairseq, XGLM)
};

// Fills the table with sinusoids. A row of odd width has one sine more than cosines, or, with `closed`, a 0 at the end.
template <std::size_t Rows, std::size_t Width>
constexpr void fill_sinusoids(PositionTable<Rows, Width>& table, SinusoidKind kind = {}) noexcept {
  const std::size_t sines = kind.closed ? Width / 2 : (Width + 1) / 2;
  const double steps = !kind.closed ? static_cast<double>(Width) / 2 : sines > 1 ? static_cast<double>(sines - 1) : 1;
  for (std::size_t i = 0; i < sines; ++i) {
    const std::size_t sine = kind.interleaved ? 2 * i : i, cosine = kind.interleaved ? 2 * i + 1 : sines + i;
    const double frequency = detail::vec::power_double(10000, -static_cast<double>(i) / steps);
    for (std::size_t p = 0; p < Rows; ++p) {
      const auto angle = detail::vec::cosine_and_sine(detail::vec::unfused(static_cast<double>(p) * frequency));
      table.rows[p][sine] = static_cast<float>(angle.sine);
      if (cosine < Width) table.rows[p][cosine] = static_cast<float>(angle.cosine);
    }
  }
  if (kind.closed && Width % 2 == 1) {
    for (std::size_t p = 0; p < Rows; ++p) table.rows[p][Width - 1] = 0;
  }
}

}  // namespace LADON_NAMESPACE
#include <ladon/detail/config/quiet_end.hpp>
