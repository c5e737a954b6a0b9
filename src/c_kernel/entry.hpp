// SPDX-License-Identifier: Apache-2.0
// Selects the class that implements the C functions of a kernel.
#pragma once

#include <type_traits>

#include "attend_entry.hpp"
#include "extend_entry.hpp"
#include "given_entry.hpp"
#include "run_entry.hpp"

namespace c_kernel::inline LADON_ABI {

template <class Kernel, class Settings, class W, class O>
using CachedEntryOf =
    std::conditional_t<Settings::context, AttendEntry<Kernel, Settings, W, O>, ExtendEntry<Kernel, Settings, W, O>>;
template <class Kernel, class Settings, class W, class O>
using UncachedEntryOf =
    std::conditional_t<Settings::given, GivenEntry<Kernel, Settings, W, O>, RunEntry<Kernel, Settings, W, O>>;
template <class Kernel, class Settings, class W, class O>
using EntryOf =
    std::conditional_t<Settings::cache, CachedEntryOf<Kernel, Settings, W, O>, UncachedEntryOf<Kernel, Settings, W, O>>;

}  // namespace c_kernel::inline LADON_ABI
