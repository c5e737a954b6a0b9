#include "terminal.hpp"

#include <cstdlib>

#include "palette.hpp"
#include "text.hpp"

#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif

namespace examples {
namespace {

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool output_is_terminal() {
#if defined(__unix__) || defined(__APPLE__)
  return isatty(STDOUT_FILENO) != 0;
#else
  return false;  // on other systems, a program must enable escape codes before it writes colours
#endif
}

}  // namespace

Colour colour_of_output() {
  const std::string_view term = variable("TERM"), colour_term = variable("COLORTERM");
  if (!output_is_terminal() || !variable("NO_COLOR").empty() || term.empty() || term == "dumb") return Colour::none;
  return colour_term == "truecolor" || colour_term == "24bit" ? Colour::full : Colour::indexed;
}

std::string painted(std::string_view text, float share, Colour colour) {
  const char* const ink = is_bright(share) ? "38;5;234" : "38;5;255";
  const Rgb ground = heat(share);
  const std::string code = colour == Colour::full ? format("48;2;%d;%d;%d", ground.red, ground.green, ground.blue)
                                                  : format("48;5;%d", heat_of_256(share));
  return format("\033[%s;%sm", ink, code.c_str()).append(text).append("\033[0m");
}

}  // namespace examples
