// Tests the attention of the digits, and the pictures of the attention.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "heat_map.hpp"
#include "held_out.hpp"
#include "palette.hpp"
#include "reader.hpp"
#include "testing/svg.hpp"

namespace date_reader {
namespace {

using examples::heat, examples::heat_of_256, examples::Rgb, examples::shade;

Workspace workspace;
Attention attention;

constexpr std::size_t last = layers - 1;

// The positions of the eight digits in a text of the form YYYY?MM?DD.
constexpr std::size_t iso_places[slots] = {0, 1, 2, 3, 5, 6, 8, 9};

bool is_iso(std::string_view text) {
  const auto is_digit = [&](std::size_t i) { return text[i] >= '0' && text[i] <= '9'; };
  return text.size() == 10 && std::all_of(iso_places, iso_places + slots, is_digit) && !is_digit(4) && !is_digit(7);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_SUITE_BEGIN("attention");

TEST_CASE("each row sums to 1 over the slots and the text, and is 0 beyond the text") {
  const Reading reading = read("3rd of Feb, 2024", workspace, &attention);
  CHECK(reading.certainty == read("3rd of Feb, 2024", workspace).certainty);
  for (const auto& layer : attention.map) {
    for (const auto& head : layer) {
      for (std::size_t s = 0; s < slots; ++s) {
        float sum = 0;
        for (std::size_t t = 0; t < shape.queries; ++t) {
          if (t >= slots + reading.text.size) CHECK(head[s][t] == 0);
          sum += head[s][t];
        }
        CHECK(sum == doctest::Approx(1).epsilon(1e-5));
      }
    }
  }
}

TEST_CASE("in the last layer a head points at the character of each digit") {
  int digits = 0, pointed_at = 0;
  for (const auto& [text, iso] : held_out()) {
    Squeezed squeezed;
    if (squeeze(text, squeezed) != Status::date || !is_iso(squeezed.view())) continue;
    const Reading reading = read(text, workspace, &attention);
    if (!reading.is_date()) continue;
    const std::size_t head = pointing_head(attention, last, reading.text.size);
    for (std::size_t s = 0; s < slots; ++s) {
      std::size_t top = 0;
      for (std::size_t c = 1; c < reading.text.size; ++c) {
        if (attention.of(last, head, s, c) > attention.of(last, head, s, top)) top = c;
      }
      ++digits;
      pointed_at += top == iso_places[s] ? 1 : 0;
    }
  }
  REQUIRE(digits > 1000);
  MESSAGE(pointed_at << " of " << digits);
  CHECK(pointed_at >= 0.99 * digits);
}

TEST_CASE("a head whose digits all look at one place is not the pointing head") {
  attention = {};
  for (std::size_t s = 0; s < slots; ++s) {
    attention.map[last][1][s][slots] = 1;             // all digits attend to the first character
    attention.map[last][2][s][slots + s] = 0.5f;      // each digit attends to a different character
    attention.map[last][3][s][slots + s % 2] = 0.9f;  // the digits attend to two characters
  }
  CHECK(pointing_head(attention, last, 10) == 2);
}

TEST_CASE("the terminal's picture") {
  const Reading reading = read("3rd of Feb, 2024", workspace, &attention);
  const std::string plain = terminal_picture(reading, attention, last, 0, Colour::none);
  CHECK(plain.find('\033') == plain.npos);
  const auto lines = lines_of(plain);
  REQUIRE(lines.size() > slots);
  CHECK(lines[0].find("3  r  d     o  f     f  e  b  ,     2  0  2  4") != plain.npos);
  for (std::size_t s = 0; s < slots; ++s) CHECK(lines[1 + s][9] == "20240203"[s]);
  for (std::size_t size = 1; size <= longest_text; ++size) {
    const Reading any = read(std::string(size, '1'), workspace, &attention);
    for (const auto& line : lines_of(terminal_picture(any, attention, last, 0, Colour::none))) CHECK(line.size() <= 80);
  }
  CHECK(terminal_picture(reading, attention, last, 0, Colour::full).find("\033[38;5;255;48;2;") != plain.npos);
  const std::string indexed = terminal_picture(reading, attention, last, 0, Colour::indexed);
  CHECK(indexed.find("48;5;") != plain.npos);
  CHECK(indexed.find("48;2;") == plain.npos);
}

TEST_CASE("only printable characters of the text reach the terminal") {
  const Reading reading = read("\033[31m 5 may 2001 \x07\x7f", workspace, &attention);
  CHECK(terminal_picture(reading, attention, last, 0, Colour::none).find('\033') == std::string::npos);
  CHECK(svg_picture(reading, attention).find('\033') == std::string::npos);
}

TEST_CASE("the SVG picture") {
  const std::string svg = svg_picture(read("3rd of Feb, 2024", workspace, &attention), attention);
  CHECK(examples::is_well_formed(svg));
  for (const char* part : {"<svg xmlns=\"http://www.w3.org/2000/svg\"", "layer 0, head 0", "layer 0, head 3",
                           "layer 1, head 0", "layer 1, head 3", ": points", "\"3rd of feb, 2024\" = 2024-02-03"}) {
    CAPTURE(part);
    CHECK(svg.find(part) != svg.npos);
  }
  const std::string odd = svg_picture(read("<b>&\"'</b>", workspace, &attention), attention);
  CHECK(examples::is_well_formed(odd));
  CHECK(odd.find("&lt;b&gt;&amp;") != odd.npos);
  CHECK(odd.find("&lt;/b&gt;\" is not a date I can read") != odd.npos);
}

TEST_CASE("colours rise from dark to bright") {
  const auto lightness = [](Rgb c) { return 2 * c.red + 5 * c.green + c.blue; };
  for (int i = 0; i < 100; ++i) {
    CHECK(lightness(heat(static_cast<float>(i) / 100)) < lightness(heat(static_cast<float>(i + 1) / 100)));
  }
  CHECK(shade(0) == ' ');
  CHECK(shade(1) == '@');
  CHECK(heat_of_256(0) != heat_of_256(1));
}

TEST_SUITE_END();

}  // namespace date_reader
