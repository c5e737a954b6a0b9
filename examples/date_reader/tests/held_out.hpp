// Reads the held-out set: texts that were not in the training, with their dates. examples/date_reader/held_out.py makes
// the file of the set.
#pragma once

#include <fstream>
#include <string>
#include <vector>

namespace date_reader {

struct Example {
  std::string text;
  std::string iso;  // empty if the text is no date
};

inline std::vector<Example> held_out() {
  std::vector<Example> examples;
  std::ifstream file(DATE_READER_HELD_OUT);
  for (std::string line; std::getline(file, line);) {
    const auto tab = line.find('\t');
    examples.push_back({line.substr(0, tab), line.substr(tab + 1)});
  }
  return examples;
}

}  // namespace date_reader
