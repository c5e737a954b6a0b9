// Tests the embedding of token ids, and positions (ladon/model/embedding.hpp).
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <vector>

#include <doctest/doctest.h>

#include <ladon/model/embedding.hpp>

#include "guarded.hpp"
#include "guarded_run.hpp"
#include "random_part.hpp"

namespace ladon_test {

namespace {

// Returns a row of the table. The sums of rotated rows are sums of integers, which round nothing.
Expected row_of(const oracle::Linear& w, std::size_t row, float factor) {
  Expected expected;
  for (std::size_t i = 0; i < w.in; ++i) {
    double sum = 0;
    for (std::size_t j = i / 8 * 8; w.rotated && j < i / 8 * 8 + 8; ++j)
      sum += oracle::hadamard(i, j) * static_cast<double>(w.weight[row * w.in + j]);
    if (!w.rotated) sum = static_cast<double>(w.weight[row * w.in + i]);
    Real value(sum);
    if (!w.scale.empty()) value = value * Real(static_cast<double>(w.scale[row]));
    expected.push_back(factor == 1 ? value : value * Real(static_cast<double>(factor)));
  }
  return expected;
}

// Returns the largest difference between weight `i` of a row, which is `value`, and the weight before quantisation:
// half a step of an integer, and in rotated rows the mean of eight such differences, whose steps are eight times as
// large.
double largest_difference(const oracle::Linear& w, std::size_t row, double value) {
  if (w.bfloat16) return std::abs(value) * 0x1p-8;
  if (w.scale.empty()) return 0;
  return std::abs(static_cast<double>(w.scale[row])) * (w.rotated ? 4 : 0.5) * 1.0001;
}

template <std::size_t Rows, std::size_t Width, class Precision>
void check_embedding() {
  CAPTURE(Rows);
  CAPTURE(Width);
  const RandomLinear<ladon::EmbeddingTable<Rows, Width, Precision>> table(Width);
  const std::vector<std::int32_t> ids{Rows - 1, 0, Rows / 2, Rows / 2};
  CHECK(ladon::has_ids(table.view, ids.data(), ids.size()));
  for (const float factor : {1.0f, 1.7f}) {
    const Floats y =
        run_twice(ids.size() * Width, [&](float* to) { ladon::embed(table.view, ids.data(), ids.size(), to, factor); });
    for (std::size_t t = 0; t < ids.size(); ++t) {
      const auto row = static_cast<std::size_t>(ids[t]);
      const auto actual = std::span(y).subspan(t * Width, Width);
      CHECK(worst_distance(actual, row_of(table.w, row, factor)) <= 1);
      for (std::size_t i = 0; factor == 1 && i < Width; ++i) {
        const double weight = static_cast<double>(table.floats.weight[row * Width + i]);
        CHECK(std::abs(static_cast<double>(actual[i]) - weight) <= largest_difference(table.w, row, weight));
      }
    }
  }
}

template <class Precision>
void check_widths() {
  check_embedding<7, 8, Precision>();
  check_embedding<100, 136, Precision>();
  if constexpr (!std::is_same_v<Precision, ladon::precision::Int8<8, true>>) {
    check_embedding<1, 1, Precision>();
    check_embedding<5, 17, Precision>();
  }
}

}  // namespace

TEST_CASE("rows of an embedding table in every precision") {
  check_widths<ladon::precision::Float32>();
#if !LADON_DETERMINISTIC
  check_widths<ladon::precision::BFloat16>();
#endif
  check_widths<ladon::precision::Int8<8>>();
  check_widths<ladon::precision::Int8<8, true>>();
}

TEST_CASE("ids beyond an embedding table are recognised") {
  const ladon::EmbeddingTable<5, 3> table;
  for (const std::int32_t id : {0, 4}) CHECK(ladon::has_ids(table, &id, 1));
  for (const std::int32_t id : std::initializer_list<std::int32_t>{-1, 5, INT32_MIN, INT32_MAX})
    CHECK(!ladon::has_ids(table, &id, 1));
  const std::int32_t ids[] = {0, 4, 5};
  CHECK(ladon::has_ids(table, ids, 2));
  CHECK(!ladon::has_ids(table, ids, 3));
  CHECK(ladon::has_ids(table, nullptr, 0));
}

TEST_CASE("positions, types of tokens, and a row for all tokens are added") {
  constexpr std::size_t rows = 9, width = 13, tokens = 4, first = 5;
  Random random(4);
  const Floats table = random.normals(rows * width), before = random.normals(tokens * width);
  const auto added = [&](auto add) {
    return run_twice(tokens * width, [&](float* x) {
      for (std::size_t i = 0; i < tokens * width; ++i) x[i] = before[i];
      add(x);
    });
  };
  const Floats with_positions = added([&](float* x) {
    ladon::add_positions(ladon::MatrixView<const float, rows, width>(table.data()), first, tokens, x);
  });
  const Floats with_row =
      added([&](float* x) { ladon::add_row(ladon::VectorView<const float, width>(table.data()), tokens, x); });
  const std::int32_t types[tokens] = {8, 0, 3, 3};
  const ladon::MatrixView<const float, rows, width> view(table.data());
  const Floats with_types = added([&](float* x) { ladon::add_types(view, types, tokens, x); });
  const Floats without_types = added([&](float* x) { ladon::add_types(view, nullptr, tokens, x); });
  for (std::size_t i = 0; i < tokens * width; ++i) {
    CHECK(with_positions[i] == before[i] + table[first * width + i]);
    CHECK(with_row[i] == before[i] + table[i % width]);
    CHECK(with_types[i] == before[i] + table[static_cast<std::size_t>(types[i / width]) * width + i % width]);
  }
  CHECK(same_bits(without_types, with_row));
}

TEST_CASE("sinusoids that alternate (VideoMAE), and sinusoids whose last angle is p / 10000 (XGLM)") {
  constexpr std::size_t rows = 70;
  const auto check = []<std::size_t Width>(std::integral_constant<std::size_t, Width>) {
    const auto alternating = std::make_unique<ladon::PositionTable<rows, Width>>();
    const auto closed = std::make_unique<ladon::PositionTable<rows, Width>>();
    ladon::fill_sinusoids(*alternating, {.interleaved = true});
    ladon::fill_sinusoids(*closed, {.closed = true});
    constexpr std::size_t half = Width / 2;
    const auto is_near = [](float actual, double expected) {
      CHECK(std::abs(static_cast<double>(actual) - expected) <= 0x1p-24 * std::abs(expected) + 1e-14 * rows);
    };
    for (std::size_t p = 0; p < rows; ++p) {
      const auto position = static_cast<double>(p);
      for (std::size_t i = 0; i < Width; ++i) {
        const double angle = position / std::pow(10000.0, 2 * static_cast<double>(i / 2) / Width);
        is_near(alternating->rows[p][i], i % 2 == 0 ? std::sin(angle) : std::cos(angle));
      }
      for (std::size_t i = 0; i < half; ++i) {
        const double share = half == 1 ? 0.0 : static_cast<double>(i) / static_cast<double>(half - 1);
        const double angle = position * std::exp(-std::log(10000.0) * share);
        is_near(closed->rows[p][i], std::sin(angle));
        is_near(closed->rows[p][half + i], std::cos(angle));
      }
      if (Width % 2 == 1) CHECK(closed->rows[p][Width - 1] == 0);
    }
  };
  check(std::integral_constant<std::size_t, 1>{});
  check(std::integral_constant<std::size_t, 2>{});
  check(std::integral_constant<std::size_t, 6>{});
  check(std::integral_constant<std::size_t, 33>{});
}

TEST_CASE("sinusoids: first all sines, then all cosines") {
  const auto check = []<std::size_t Rows, std::size_t Width>(std::integral_constant<std::size_t, Rows>,
                                                             std::integral_constant<std::size_t, Width>) {
    const auto table = std::make_unique<ladon::PositionTable<Rows, Width>>();
    ladon::fill_sinusoids(*table);
    constexpr std::size_t sines = (Width + 1) / 2;
    for (std::size_t p = 0; p < Rows; ++p) {
      for (std::size_t i = 0; i < Width; ++i) {
        const double pair = static_cast<double>(i < sines ? i : i - sines);
        const double angle = static_cast<double>(p) / std::pow(10000.0, 2 * pair / Width);
        // Rounding to float, and an error of 1e-15 of the angle for each position.
        const double expected = i < sines ? std::sin(angle) : std::cos(angle);
        CHECK(std::abs(static_cast<double>(table->rows[p][i]) - expected) <=
              0x1p-24 * std::abs(expected) + 1e-14 * Rows);
      }
    }
    Floats x(2 * Width);
    ladon::add_positions(*table, Rows - 2, 2, x.data());
    for (std::size_t i = 0; i < 2 * Width; ++i) CHECK(x[i] == table->rows[Rows - 2 + i / Width][i % Width]);
  };
  check(std::integral_constant<std::size_t, 2>{}, std::integral_constant<std::size_t, 1>{});
  check(std::integral_constant<std::size_t, 1500>{}, std::integral_constant<std::size_t, 6>{});
  check(std::integral_constant<std::size_t, 40>{}, std::integral_constant<std::size_t, 33>{});
}

}  // namespace ladon_test
