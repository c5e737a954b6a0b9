// SPDX-License-Identifier: Apache-2.0
// Writes the description of a kernel, which the compiler computes from the kernel's C++ type. The description becomes
// text in an object file (describe.cpp.in), and cmake/kernel/put_description.cmake reads the text from the object file.
// The build executes no code of the target machine, so cross compilation works, too.
//
// The text begins with a line "LADON_DESCRIPTION", which has the sizes of the workspace and of the caches. Then blocks
// follow: pieces of NAME.h and of other generated files. Each block begins with a line "LADON_BLOCK <name>". The text
// ends with a line "LADON_END". `Settings` has the properties of the kernel that cannot be read from the type `Kernel`
// (definition.hpp.in).
#pragma once

#include <cstddef>

#include "describe_c.hpp"
#include "describe_json.hpp"
#include "describe_stored.hpp"
#include "memory.hpp"
#include "text.hpp"

namespace c_kernel::inline LADON_ABI {

template <class Kernel, class Settings>
struct Description {
  static constexpr Placeholders placeholders{Settings::name, Settings::upper_case_name, Kernel::shape};
  using Weights = typename Kernel::Weights;

  static constexpr void write(Writer& out) {
    constexpr Sizes sizes = sizes_of<Kernel, Settings>();
    out << "LADON_DESCRIPTION workspace=" << sizes.workspace << " shared=" << sizes.shared
        << " scratch=" << sizes.scratch << " cache=" << sizes.cache << " memory_cache=" << sizes.memory_cache << "\n";
    write_constants<Kernel, Settings>(out << "LADON_BLOCK constants\n");
    write_memory<Settings>(out << "LADON_BLOCK memory\n");
    write_weights<Kernel, Settings>(out << "LADON_BLOCK weights\n");
    write_rotary<typename Settings::Position>(out << "LADON_BLOCK rotary\n");
    write_options<Kernel, Settings>(out << "LADON_BLOCK options\n");
    write_declarations<Kernel, Settings>(out << "LADON_BLOCK declarations\n");
    write_functions<Kernel, Settings>(out << "LADON_BLOCK functions\n");
    write_json<Kernel, Settings>(out << "LADON_BLOCK json\n");
    if constexpr (Settings::stored) {
      out << "LADON_BLOCK tensors\nkv_heads " << Kernel::shape.kv_heads << "\n";
      write_stored<Weights>(StoredLines<Kernel::shape, Settings>{out});
      write_stored<Weights>(StoredInitialiser{out << "LADON_BLOCK initialiser\n"});
    }
    out << "LADON_END\n";
  }
};

}  // namespace c_kernel::inline LADON_ABI
