// Reads the options of a program whose other arguments Google Benchmark parses.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace ladon_bench {

// Removes `name VALUE` or `name=VALUE` from the arguments and returns VALUE. Returns nothing if the arguments do not
// contain `name`.
inline std::optional<std::string> take_option(std::vector<char*>& arguments, std::string_view name) {
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    const bool joined = argument.starts_with(name) && argument.substr(name.size()).starts_with('=');
    if (!joined && (argument != name || i + 1 == arguments.size())) continue;
    const std::string value = joined ? arguments[i] + name.size() + 1 : arguments[i + 1];
    const auto first = arguments.begin() + static_cast<std::ptrdiff_t>(i);
    arguments.erase(first, first + (joined ? 1 : 2));
    return value;
  }
  return std::nullopt;
}

// Removes the option `name` from the arguments and returns its number. Without the option, returns `usual`. Ends the
// program with status 2 if the value is not a number of at least `least`.
template <class Number>
Number take_number(std::vector<char*>& arguments, std::string_view name, Number usual, Number least) {
  const std::optional<std::string> text = take_option(arguments, name);
  if (!text) return usual;
  Number number{};
  std::istringstream stream(*text);
  if (stream >> number && stream.peek() == std::istringstream::traits_type::eof() && number >= least) return number;
  std::fprintf(stderr, "%s: %.*s takes a number of at least %g, not '%s'\n", arguments[0],
               static_cast<int>(name.size()), name.data(), static_cast<double>(least), text->c_str());
  std::exit(2);
}

}  // namespace ladon_bench
