// Threads that compute one call together. Each thread computes one share of each phase of the call. At the end of a
// phase, the threads wait for each other by spinning, because waking a thread would add to the measured time.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

#include <ladon/threads.hpp>

namespace ladon_bench {

class SpinBarrier {
 public:
  explicit SpinBarrier(std::size_t threads) : threads_(threads) {}
  void wait() {
    const std::size_t before = arrived_.fetch_add(1, std::memory_order_acq_rel);
    const std::size_t all = (before / threads_ + 1) * threads_;
    while (arrived_.load(std::memory_order_acquire) < all) {}
  }

 private:
  std::atomic<std::size_t> arrived_{0};
  std::size_t threads_;
};

class Team {
 public:
  explicit Team(std::size_t threads) : barrier_(threads), count_(threads) {
    for (std::size_t i = 1; i < threads; ++i) {
      others_.emplace_back([this, i] {
        for (barrier_.wait(); phases_ > 0; barrier_.wait()) work(i);
      });
    }
  }
  ~Team() {
    phases_ = 0;
    barrier_.wait();
    for (std::thread& other : others_) other.join();
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  std::size_t size() const { return count_; }

  using ShareOfPhase = std::function<void(std::size_t phase, ladon::Share share)>;
  void run(std::size_t phases, const ShareOfPhase& share_of_phase) {
    phases_ = phases;
    share_of_phase_ = &share_of_phase;
    barrier_.wait();
    work(0);
  }

 private:
  void work(std::size_t index) {
    for (std::size_t phase = 0, phases = phases_; phase < phases; ++phase) {
      (*share_of_phase_)(phase, {index, count_});
      barrier_.wait();
    }
  }

  SpinBarrier barrier_;
  std::size_t count_;
  std::size_t phases_ = 0;
  const ShareOfPhase* share_of_phase_ = nullptr;
  std::vector<std::thread> others_;
};

}  // namespace ladon_bench
