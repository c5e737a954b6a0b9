// What the main functions of the examples share.
#pragma once

#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace examples {

// Returns the arguments that are not options, out of those that CLI11 does not know. Arguments after "--" may look like
// options. A text may begin with "- ". `kind` names an argument in the message for an unknown option, such as TEXT. (If
// the arguments were a positional option, CLI11 would read an argument in brackets as a list.)
inline std::vector<std::string> arguments_of(const CLI::App& app, const std::string& kind) {
  std::vector<std::string> arguments;
  bool has_options = true;
  for (const std::string& argument : app.remaining()) {
    if (has_options && argument == "--") {
      has_options = false;
    } else if (has_options && argument.size() > 1 && argument[0] == '-' && argument[1] != ' ') {
      throw CLI::ValidationError(
          argument, "no such option (for a " + kind + " that begins with '-': " + app.get_name() + " -- " + kind + ")");
    } else {
      arguments.push_back(argument);
    }
  }
  return arguments;
}

// Parses the command line by the options that `describe` adds, and returns the exit status: the result of `answer`,
// `wrong_usage`, or `failure` after an exception, whose message goes to stderr.
template <class Options>
int run(CLI::App& app, int argc, char** argv, int failure, int wrong_usage, void (*describe)(CLI::App&, Options&),
        int (*answer)(const Options&)) {
  try {
    Options options;
    describe(app, options);
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      return app.exit(error) == 0 ? 0 : wrong_usage;
    }
    std::ios::sync_with_stdio(false);
    return answer(options);
  } catch (const std::exception& error) {
    std::cerr << app.get_name() << ": " << error.what() << '\n';
    return failure;
  }
}

}  // namespace examples
