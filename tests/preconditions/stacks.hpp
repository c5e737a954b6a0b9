// Breaks preconditions of encoders and decoders, for preconditions.cpp.
#pragma once

#include <string_view>

namespace ladon_test {

// Breaks the precondition that `broken` names, if it belongs to an encoder or a decoder.
void break_in_a_stack(std::string_view broken);

}  // namespace ladon_test
