// Declares the functions that print the results of the program.
#pragma once

#include <iosfwd>
#include <stdexcept>
#include <string>

#include "model.hpp"

namespace date_reader {

inline constexpr int success = 0, no_date_found = 1, failure = 2;  // exit statuses

// A reason why the program cannot answer: an unreadable text, or an error of a file.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Prints example texts and their dates. If svg_path is not empty, writes a picture of the first text to this file.
int report_examples(const Model& model, std::ostream& out, const std::string& svg_path);

// Prints the date of a text, each digit's probability, a picture of the attention, and the time and the memory that the
// reading takes.
int report_text(const Model& model, const std::string& text, std::ostream& out, const std::string& svg_path);

// Prints a line for each line of `in`: the ISO date, or an empty line if the text is no date.
int report_batch(const Model& model, std::istream& in, std::ostream& out);

}  // namespace date_reader
