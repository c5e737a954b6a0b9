// Computes a hash of floats that is equal on all targets, for tests of LADON_DETERMINISTIC.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>

#include "guarded_run.hpp"

namespace ladon_test {

// Computes the hash FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/) of the bits of floats, the low byte first. All
// NaNs except poison give equal hashes, because processors differ in the bits of a NaN. Poison (guarded_run.hpp) is the
// NaN that marks memory that was not written, so poison has a different hash.
class Fingerprint {
 public:
  constexpr void add(std::span<const float> values) {
    for (const float value : values) {
      auto bits = std::bit_cast<std::uint32_t>(value);
      if (value != value && bits != poison_bits) bits = 0x7fc00000;
      for (int shift = 0; shift < 32; shift += 8) hash_ = (hash_ ^ (bits >> shift & 0xff)) * 0x100000001b3u;
    }
  }
  void add(const Outcome& outcome) {
    add(outcome.y);
    for (const Floats& map : outcome.maps) add(map);
  }
  constexpr std::uint64_t value() const { return hash_; }
  std::string text() const {
    std::string digits;
    for (int shift = 60; shift >= 0; shift -= 4) digits += "0123456789abcdef"[hash_ >> shift & 15];
    return digits;
  }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325u;
};

}  // namespace ladon_test
