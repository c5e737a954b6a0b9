// SPDX-License-Identifier: Apache-2.0
// Mutex: std::mutex, or a lock of Windows, because g++ 12 of MinGW has no std::mutex with the threads of Windows.
#pragma once

#if !defined(_WIN32)
#include <mutex>
#endif

namespace ladon::files {

#if defined(_WIN32)
class Mutex {
 public:
  void lock() noexcept;
  void unlock() noexcept;

 private:
  void* state_ = nullptr;  // an SRWLOCK
};
#else
using Mutex = std::mutex;
#endif

}  // namespace ladon::files

namespace files = ladon::files;
