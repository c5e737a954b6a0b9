// What the program answers.
#pragma once

#include <iosfwd>
#include <stdexcept>
#include <string>

#include "model.hpp"

namespace date_reader {

inline constexpr int success = 0, no_date_found = 1, failure = 2;  // exit statuses

// What keeps the program from answering: a text that cannot be one, or a file.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A handful of texts, with their dates. An SVG of the first one where the path is not empty.
int report_examples(const Model& model, std::ostream& out, const std::string& svg_path);

// One text: its date, digit by digit, the picture of its attention, and the costs.
int report_text(const Model& model, const std::string& text, std::ostream& out, const std::string& svg_path);

// A line for each line of `in`: the ISO date, or nothing.
int report_batch(const Model& model, std::istream& in, std::ostream& out);

}  // namespace date_reader
