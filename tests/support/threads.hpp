// Computes a call in parts, with one thread for each share. Like InTurn (team.hpp), OnThreads has room for `Size`
// shares, and a test can set `shares` to a smaller number.
#pragma once

#include <cstddef>
#include <thread>
#include <vector>

#include <ladon/threads.hpp>

#include "barrier.hpp"

namespace ladon_test {

template <std::size_t Size>
struct OnThreads {
  static constexpr std::size_t size = Size;
  inline static std::size_t shares = Size;
  template <class F>
  static void drive(std::size_t phases, F share_of_phase) {
    const std::size_t count = shares;
    Barrier barrier(count);
    const auto work = [&](std::size_t index) {
      for (std::size_t phase = 0; phase < phases; ++phase) {
        share_of_phase(phase, ladon::Share{index, count});
        barrier.arrive_and_wait();
      }
    };
    std::vector<std::thread> others;
    for (std::size_t i = 1; i < count; ++i) others.emplace_back(work, i);
    work(0);
    for (std::thread& other : others) other.join();
  }
};

}  // namespace ladon_test
