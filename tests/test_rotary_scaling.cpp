// Tests rotary tables from config.json (rotary_scaling.hpp). The expected frequencies follow the text of transformers'
// modeling_rope_utils.py, statement by statement, with libm.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include <doctest/doctest.h>
#include <ladon/rotary_scaling.hpp>

namespace ladon_test {

namespace {

using ladon::RotaryKind, ladon::RotaryScaling;
constexpr double pi = std::numbers::pi;

struct Expected {
  std::vector<double> frequencies;
  double attention_factor = 1;
};

std::vector<double> unscaled(double base, std::size_t width) {
  std::vector<double> f;
  for (std::size_t i = 0; i < width; i += 2) f.push_back(1 / std::pow(base, double(i) / double(width)));
  return f;
}
Expected llama3(const RotaryScaling& s, std::size_t width) {
  Expected e{unscaled(s.base, width)};
  for (double& f : e.frequencies) {
    const double length = 2 * pi / f;
    const double low = s.original_positions / s.low_frequency_factor;
    const double high = s.original_positions / s.high_frequency_factor;
    if (length > low) {
      f /= s.factor;
    } else if (length >= high) {
      const double smooth =
          (s.original_positions / length - s.low_frequency_factor) / (s.high_frequency_factor - s.low_frequency_factor);
      f = (1 - smooth) * f / s.factor + smooth * f;
    }
  }
  return e;
}
Expected yarn(const RotaryScaling& s, std::size_t width) {
  Expected e{unscaled(s.base, width), s.factor <= 1 ? 1 : 0.1 * std::log(s.factor) + 1};
  if (s.attention_factor != 0) e.attention_factor = s.attention_factor;
  const double dim = double(width);
  const auto pair_of = [&](double turns) {
    return dim * std::log(s.original_positions / (turns * 2 * pi)) / (2 * std::log(s.base));
  };
  double low = pair_of(s.beta_fast), high = pair_of(s.beta_slow);
  if (s.truncate) low = std::floor(low), high = std::ceil(high);
  low = std::max(low, 0.0), high = std::min(high, dim - 1);
  if (low == high) high += 0.001;
  for (std::size_t i = 0; i < width / 2; ++i) {
    const double ramp = std::clamp((double(i) - low) / (high - low), 0.0, 1.0), f = e.frequencies[i];
    e.frequencies[i] = f / s.factor * ramp + f * (1 - ramp);
  }
  return e;
}
Expected longrope(const RotaryScaling& s, std::size_t width) {
  Expected e{unscaled(s.base, width), std::sqrt(1 + std::log(s.factor) / std::log(s.original_positions))};
  if (s.attention_factor != 0) e.attention_factor = s.attention_factor;
  for (std::size_t i = 0; i < width / 2; ++i) e.frequencies[i] /= s.factors[i];
  return e;
}
Expected dynamic(const RotaryScaling& s, std::size_t width, std::size_t length) {
  const double dim = double(width), longest = std::max(double(length), s.original_positions);
  return {
      unscaled(s.base * std::pow(s.factor * longest / s.original_positions - (s.factor - 1), dim / (dim - 2)), width)};
}
Expected proportional(const RotaryScaling& s, std::size_t width) {
  Expected e{unscaled(s.base, width)};
  const auto angles = static_cast<std::size_t>(std::floor(s.proportion * double(width) / 2));
  for (std::size_t i = 0; i < width / 2; ++i) e.frequencies[i] = i < angles ? e.frequencies[i] / s.factor : 0;
  return e;
}
Expected linear(const RotaryScaling& s, std::size_t width) {
  Expected e{unscaled(s.base, width)};
  for (double& f : e.frequencies) f /= s.factor;
  return e;
}

template <std::size_t Positions, std::size_t Width>
void check(const RotaryScaling& scaling, const Expected& expected) {
  const auto table = ladon::rotary_table<Positions, Width>(scaling);
  const double sign = scaling.negated ? -1 : 1;
  double worst = 0;
  for (std::size_t pair = 0; pair < Width / 2; ++pair) {
    for (std::size_t t = 0; t < Positions; ++t) {
      const double angle = sign * double(t) * expected.frequencies[pair];
      worst = std::max(worst, std::abs(double(table.cosine[pair][t]) - expected.attention_factor * std::cos(angle)));
      worst = std::max(worst, std::abs(double(table.sine[pair][t]) - expected.attention_factor * std::sin(angle)));
    }
  }
  // Rounding to float changes a number below 2 by at most 2^-24.
  CHECK(worst <= 0x1.0001p-24);
}

constexpr double divisors[] = {1, 1.5, 2.25, 9};
constexpr RotaryScaling yarn_of_gpt_oss{
    .kind = RotaryKind::yarn, .base = 150000, .factor = 32, .original_positions = 4096, .truncate = false};

}  // namespace

TEST_CASE("rotary tables have the frequencies of each kind") {
  constexpr RotaryScaling none{.base = 5000};
  check<70, 8>(none, {unscaled(5000, 8)});
  constexpr RotaryScaling divided{.kind = RotaryKind::linear, .base = 500000, .factor = 4};
  check<71, 8>(divided, linear(divided, 8));
  constexpr RotaryScaling small{.kind = RotaryKind::llama3, .base = 50, .factor = 8, .original_positions = 16};
  check<72, 8>(small, llama3(small, 8));
  constexpr RotaryScaling large{.kind = RotaryKind::llama3, .base = 500000, .factor = 32, .original_positions = 8192};
  check<73, 64>(large, llama3(large, 64));
  check<74, 16>(yarn_of_gpt_oss, yarn(yarn_of_gpt_oss, 16));
  constexpr RotaryScaling truncated{.kind = RotaryKind::yarn, .factor = 4, .original_positions = 32768};
  check<75, 64>(truncated, yarn(truncated, 64));
  constexpr RotaryScaling own_factor{.kind = RotaryKind::yarn,
                                     .factor = 40,
                                     .original_positions = 64,
                                     .attention_factor = 0.75,
                                     .beta_fast = 1,
                                     .beta_slow = 1};
  check<76, 6>(own_factor, yarn(own_factor, 6));
  constexpr RotaryScaling divided_each{
      .kind = RotaryKind::longrope, .factor = 32, .original_positions = 4096, .factors = divisors};
  check<77, 8>(divided_each, longrope(divided_each, 8));
  constexpr RotaryScaling quarter{.kind = RotaryKind::proportional, .base = 1e6, .factor = 2, .proportion = 0.25};
  check<78, 24>(quarter, proportional(quarter, 24));
  constexpr RotaryScaling grown{.kind = RotaryKind::dynamic, .factor = 3, .original_positions = 32};
  check<79, 8>(grown, dynamic(grown, 8, 79));
  check<31, 8>(grown, {unscaled(10000, 8)});
  constexpr RotaryScaling negated{.negated = true};
  check<80, 8>(negated, {unscaled(10000, 8)});
}

TEST_CASE("a table without scaling has the bits of the table from a base") {
  static constexpr auto from_config = ladon::rotary_table<33, 8>({.base = 777});
  static constexpr auto from_base = ladon::rotary_table<33, 8>(777);
  for (std::size_t pair = 0; pair < 4; ++pair) {
    CHECK(std::ranges::equal(from_config.cosine[pair], from_base.cosine[pair]));
    CHECK(std::ranges::equal(from_config.sine[pair], from_base.sine[pair]));
  }
}

TEST_CASE("the table of an image rotates by rows and columns, and its prefix not at all") {
  constexpr std::size_t prefix = 3, rows = 4, columns = 5;
  static constinit auto table = [] {
    ladon::RotaryTable<24, 8> filled{};
    ladon::fill_image_rotary_table(filled, prefix, rows, columns);
    return filled;
  }();
  for (std::size_t t = 0; t < 24; ++t) {
    for (std::size_t pair = 0; pair < 4; ++pair) {
      const std::size_t patch = t < prefix ? 0 : t - prefix;
      const double y = 2 * (double(patch / columns) + 0.5) / double(rows) - 1;
      const double x = 2 * (double(patch % columns) + 0.5) / double(columns) - 1;
      const bool turns = t >= prefix && patch < rows * columns;
      const double angle = turns ? 2 * pi * (pair < 2 ? y : x) / std::pow(100.0, double(pair % 2) / 2) : 0;
      CHECK(std::abs(double(table.cosine[pair][t]) - std::cos(angle)) <= 0x1.0001p-25);
      CHECK(std::abs(double(table.sine[pair][t]) - std::sin(angle)) <= 0x1.0001p-25);
    }
  }
}

}  // namespace ladon_test
