// A barrier for a team of threads: std::barrier of g++ 12 for Windows (MinGW) never returns (docs/threads.md).
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace ladon_test {

class Barrier {
 public:
  explicit Barrier(std::size_t threads) : threads_(threads) {}

  // Returns when all threads have called it.
  void arrive_and_wait() {
    std::unique_lock lock(mutex_);
    const std::size_t round = round_;
    if (++arrived_ == threads_) {
      arrived_ = 0;
      ++round_;
      all_arrived_.notify_all();
    } else {
      all_arrived_.wait(lock, [&] { return round_ != round; });
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_arrived_;
  std::size_t threads_, arrived_ = 0, round_ = 0;
};

}  // namespace ladon_test
