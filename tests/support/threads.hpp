// Calls run_phase with one thread for each share.
#pragma once

#include <barrier>
#include <cstddef>
#include <thread>
#include <vector>

#include <ladon/threads.hpp>

namespace ladon_test {

template <std::size_t Size>
struct OnThreads {
  static constexpr std::size_t size = Size;
  template <class F>
  static void drive(std::size_t phases, F share_of_phase) {
    std::barrier barrier(static_cast<std::ptrdiff_t>(Size));
    const auto work = [&](std::size_t index) {
      for (std::size_t phase = 0; phase < phases; ++phase) {
        share_of_phase(phase, ladon::Share{index, Size});
        barrier.arrive_and_wait();
      }
    };
    std::vector<std::thread> others;
    for (std::size_t i = 1; i < Size; ++i) others.emplace_back(work, i);
    work(0);
    for (std::thread& other : others) other.join();
  }
};

}  // namespace ladon_test
