// Tests the pictures of a window: terminal_picture and svg_picture.
#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "fixtures.hpp"
#include "palette.hpp"
#include "picture.hpp"
#include "testing/svg.hpp"

namespace keywords {
namespace {

using examples::Colour;

// Returns attention weights for a test: in layer i, the class token attends only to frame 8 * i.
ClassAttention pointed_attention() {
  ClassAttention attention{};
  for (std::size_t layer = 0; layer < layer_count; ++layer) attention[layer][1 + 8 * layer] = 0.25f;
  return attention;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_SUITE_BEGIN("picture");

TEST_CASE("the terminal's picture has a row for each layer, scaled by its largest value") {
  const auto lines = lines_of(terminal_picture(pointed_attention(), Colour::none));
  REQUIRE(lines.size() == 1 + layer_count);
  CHECK(lines[0] == "          0.0       0.2       0.4       0.6       0.8 s");
  for (std::size_t layer = 0; layer < layer_count; ++layer) {
    const std::string& line = lines[1 + layer];
    CAPTURE(line);
    CHECK(line.size() <= 80);
    CHECK(line.starts_with(layer < 10 ? "layer  " : "layer 1"));
    CHECK(line.find('@') == 10 + 4 * layer);  // a column has two frames
    CHECK(std::ranges::count(line, '@') == 1);
    CHECK(line.ends_with("|  25.0%"));
  }
}

TEST_CASE("without attention, rows are empty") {
  const auto lines = lines_of(terminal_picture({}, Colour::none));
  CHECK(lines.back() == "layer 11 |" + std::string(frame_count / 2, ' ') + "|   0.0%");
}

TEST_CASE("colours") {
  const ClassAttention attention = pointed_attention();
  CHECK(terminal_picture(attention, Colour::none).find('\033') == std::string::npos);
  CHECK(terminal_picture(attention, Colour::full).find("48;2;") != std::string::npos);
  CHECK(terminal_picture(attention, Colour::indexed).find("48;5;") != std::string::npos);
}

TEST_CASE("the SVG picture has the sound, the attention, axes and the title") {
  std::vector<float> log_bands(frame_count * mel_bands, -20.0f);
  for (std::size_t frame = 0; frame < frame_count; ++frame) log_bands[frame * mel_bands] = 3;  // the lowest band
  const std::string svg = svg_picture("<a&b>: yes 90.9%", log_bands, pointed_attention());
  CHECK(examples::is_well_formed(svg));
  CHECK(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  CHECK(svg.ends_with("</svg>\n"));
  for (const char* part : {"&lt;a&amp;b&gt;: yes 90.9%", "layer 0", "layer 11", "25.0%", "7000 Hz", "0.0 s", "0.9 s"}) {
    CAPTURE(part);
    CHECK(svg.find(part) != svg.npos);
  }
  CHECK(count_of(svg, "h784v3") == 1);  // one rectangle over all frames of the lowest band; other bands are dark
  CHECK(count_of(svg, "h8v14") == layer_count);
}

TEST_CASE("a quiet sound is dark") {
  const std::vector<float> log_bands(frame_count * mel_bands, -20.0f);
  CHECK(svg_picture("quiet", log_bands, {}).find("<path fill") == std::string::npos);
}

TEST_SUITE_END();

}  // namespace keywords
