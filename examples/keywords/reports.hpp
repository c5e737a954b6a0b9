// Makes the output of the program keywords. Each function writes or returns the results of one recording.
#pragma once

#include <iosfwd>
#include <string>

#include "recording.hpp"

namespace keywords {

// Writes the words, their probabilities, and a picture of the attention.
void report_text(const std::string& file, const Findings& findings, Spotter& spotter, std::ostream& out);

// Writes a line with a JSON object.
void report_json(const std::string& file, const Findings& findings, std::ostream& out);

// Returns an SVG document.
std::string svg_report(const std::string& file, const Findings& findings, Spotter& spotter);

}  // namespace keywords
