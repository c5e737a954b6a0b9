#include "reports.hpp"

#include <algorithm>
#include <array>
#include <istream>
#include <ostream>

#include "heat_map.hpp"
#include "replace_file.hpp"
#include "speed.hpp"
#include "text.hpp"

namespace date_reader {
namespace {

using examples::format, examples::grouped, examples::percent;

constexpr std::array sample_texts{"3rd of Feb, 2024",
                                  "Saturday, the 3rd of February, '24",
                                  "2024-02-03",
                                  "20240203",
                                  "2/3/24",
                                  "3.2.2024",
                                  "Sept. 9 1999",
                                  "20-JUL-1969",
                                  "Tues., Febuary 29th, 2028",
                                  "31.4.2021",
                                  "5 may 2001 at noon"};
constexpr const char* not_a_date = "not a date I can read";

constinit Attention drawn_attention{};

std::string expected(Status status) {
  const std::string most = std::to_string(longest_text);
  const std::string wanted = "expected a date of at most " + most + " ASCII characters, such as \"3rd of Feb, 2024\"";
  switch (status) {
    case Status::empty:
      return "the text is empty; " + wanted;
    case Status::too_long:
      return "the text is too long; " + wanted;
    case Status::not_ascii:
      return "the text holds a character that is not ASCII; " + wanted;
    default:
      return "";
  }
}

std::string iso_of(const Reading& reading) {
  const auto iso = reading.iso();
  return {iso.data(), iso.size()};
}

std::string memory(const Model& model) {
  return grouped(model.weight_bytes) + " bytes of weights, " + grouped(model.workspace_bytes) + " bytes of workspace";
}

}  // namespace

int report_examples(const Model& model, std::ostream& out, const std::string& svg_path) {
  if (!svg_path.empty()) {
    const Reading reading = model.read(sample_texts[0], &drawn_attention);
    files::replace_file(svg_path, svg_picture(reading, drawn_attention));
  }
  for (const char* text : sample_texts) {
    const Reading reading = model.read(text, nullptr);
    const float least = *std::min_element(reading.certainty.begin(), reading.certainty.end());
    out << format("%-36s", text)
        << (reading.is_date() ? iso_of(reading) + format("%9s", percent(least).c_str()) : not_a_date) << '\n';
  }
  const Speed speed = measure(sample_texts[0], model);
  out << format("\nBeside a date: how sure its least sure digit is. A text takes %.1f microseconds,\n",
                speed.microseconds)
      << memory(model) << ".\nTo see where it looks: ./dev demo \"" << sample_texts[0] << "\"\n";
  return success;
}

int report_text(const Model& model, const std::string& text, std::ostream& out, const std::string& svg_path) {
  const Reading reading = model.read(text, &drawn_attention);
  if (const std::string error = expected(reading.status); !error.empty()) throw Failure(error);
  if (!svg_path.empty()) files::replace_file(svg_path, svg_picture(reading, drawn_attention));
  if (!reading.is_date()) {
    out << not_a_date << '\n';
    return no_date_found;
  }
  constexpr std::size_t last = layers - 1;
  out << iso_of(reading) << "\n\n"
      << terminal_picture(reading, drawn_attention, last, pointing_head(drawn_attention, last, reading.text.size),
                          examples::colour_of_output());
  const Speed speed = measure(text, model);
  out << format("\n  %.1f microseconds from text to date (median of %zu readings): %.1f GFLOP/s,\n", speed.microseconds,
                speed.readings, speed.gflops)
      << format("  %.0f%% of this core's FMA peak (%.1f GFLOP/s)\n  ", 100 * speed.share_of_peak, speed.peak_gflops)
      << memory(model) << '\n';
  return success;
}

int report_batch(const Model& model, std::istream& in, std::ostream& out) {
  for (std::string line; out && std::getline(in, line);) {
    const Reading reading = model.read(line, nullptr);  // the '\r' of Windows counts as a space
    if (reading.is_date()) out << iso_of(reading);
    out << '\n';
  }
  if (in.bad()) throw Failure("the texts could not be read to their end");
  return success;
}

}  // namespace date_reader
