// Breaks preconditions of encoders and decoders, for preconditions.cpp.
#pragma once

#include <string_view>

namespace ladon_test {

// Breaks the precondition with the name `broken`. Does nothing if no precondition of an encoder or a decoder has this
// name.
void break_in_a_stack(std::string_view broken);

}  // namespace ladon_test
