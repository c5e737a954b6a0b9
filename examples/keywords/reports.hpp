// Makes the output of the program keywords. Each function writes or returns the results of one recording.
#pragma once

#include <iosfwd>
#include <string>

#include "recording.hpp"

namespace keywords {

// Writes the words in `findings`, their probabilities, and a picture of the attention.
void report_text(const std::string& file, const Findings& findings, Spotter& spotter, std::ostream& out);

// Writes a line with a JSON object that contains the name of the file and the answer.
void report_json(const std::string& file, const Findings& findings, std::ostream& out);

// Returns an SVG document with the sound and the attention of findings.window.
std::string svg_report(const std::string& file, const Findings& findings, Spotter& spotter);

}  // namespace keywords
