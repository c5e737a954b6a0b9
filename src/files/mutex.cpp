// SPDX-License-Identifier: Apache-2.0
#include "mutex.hpp"

#if defined(_WIN32)
#include <windows.h>

namespace ladon::files {

static_assert(sizeof(SRWLOCK) == sizeof(void*) && alignof(SRWLOCK) == alignof(void*));

void Mutex::lock() noexcept { AcquireSRWLockExclusive(reinterpret_cast<SRWLOCK*>(&state_)); }
void Mutex::unlock() noexcept { ReleaseSRWLockExclusive(reinterpret_cast<SRWLOCK*>(&state_)); }

}  // namespace ladon::files
#endif
