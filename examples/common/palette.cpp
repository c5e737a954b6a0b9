#include "palette.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace examples {
namespace {

constexpr std::array<Rgb, 5> stops{{{28, 27, 46}, {92, 40, 122}, {186, 58, 98}, {241, 128, 53}, {253, 228, 128}}};
constexpr std::array indexed{234, 235, 53, 54, 90, 126, 161, 167, 203, 208, 215, 222, 228};

// Maps a share (0 to 1) to a position from 0 to steps - 1 in a row of colours or characters. The exponent 0.7 makes
// small shares visible. Heads that spread their attention over many tokens have only small shares.
float place_of(float share, std::size_t steps) noexcept {
  return std::pow(std::clamp(share, 0.0f, 1.0f), 0.7f) * static_cast<float>(steps - 1);
}

std::uint8_t between(std::uint8_t a, std::uint8_t b, float part) noexcept {
  const float value = static_cast<float>(a) + part * (static_cast<float>(b) - static_cast<float>(a));
  return static_cast<std::uint8_t>(std::lround(value));
}

}  // namespace

Rgb heat(float share) noexcept {
  const float place = place_of(share, stops.size());
  const std::size_t below = std::min(static_cast<std::size_t>(place), stops.size() - 2);
  const float part = place - static_cast<float>(below);
  const Rgb &a = stops[below], &b = stops[below + 1];
  return {between(a.red, b.red, part), between(a.green, b.green, part), between(a.blue, b.blue, part)};
}

int heat_of_256(float share) noexcept {
  return indexed[static_cast<std::size_t>(std::lround(place_of(share, indexed.size())))];
}

bool is_bright(float share) noexcept { return share >= 0.45f; }

char shade(float share) noexcept {
  const float last = static_cast<float>(shades.size() - 1);
  return shades[static_cast<std::size_t>(std::lround(std::clamp(share, 0.0f, 1.0f) * last))];
}

}  // namespace examples
