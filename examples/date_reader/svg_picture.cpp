#include <algorithm>

#include "heat_map.hpp"
#include "svg.hpp"
#include "text.hpp"

namespace date_reader {
namespace {

using examples::format, examples::heat, examples::percent, examples::printable;
using examples::svg::head, examples::svg::rect, examples::svg::text_at;

// The positions of the picture's parts. The picture has a panel for each head: a column of panels is a layer, and a row
// of panels is a head number. In a panel, each row is a digit of the date. The columns are the characters of the text,
// and then the slots (the tokens that answer with the digits), because digits may also attend to slots.
struct Geometry {
  explicit Geometry(std::size_t text_size) : characters(text_size), cell(text_size > 24 ? 13 : 17) {}
  std::size_t characters;
  int cell;
  static constexpr int margin = 28, head_room = 104, label_width = 74, panel_head = 48, gap = 10, foot_room = 40,
                       least_width = 640;

  int text_width() const { return static_cast<int>(characters) * cell; }
  int panel_width() const { return label_width + text_width() + gap + static_cast<int>(slots) * cell; }
  int panel_height() const { return panel_head + static_cast<int>(slots) * cell; }
  int width() const { return std::max(least_width, margin + static_cast<int>(layers) * (panel_width() + margin)); }
  int height() const { return head_room + static_cast<int>(shape.heads) * (panel_height() + margin) + foot_room; }
  int left(std::size_t layer) const { return margin + static_cast<int>(layer) * (panel_width() + margin); }
  int top(std::size_t head) const { return head_room + static_cast<int>(head) * (panel_height() + margin); }
  int column(std::size_t token) const {  // tokens are ordered as in Attention: the slots are first
    const bool is_slot = token < slots;
    return label_width +
           (is_slot ? text_width() + gap + static_cast<int>(token) * cell : static_cast<int>(token - slots) * cell);
  }
};

std::string digit_name(const Reading& reading, std::size_t slot) {
  return reading.digits[slot] == no_date_class ? "-" : std::string(1, static_cast<char>('0' + reading.digits[slot]));
}

std::string cells(const Geometry& at, const Reading& reading, const Attention& attention, std::size_t layer,
                  std::size_t head) {
  std::string out =
      rect(at.column(slots), at.panel_head, at.text_width(), at.panel_height() - at.panel_head, heat(0)) +
      rect(at.column(0), at.panel_head, static_cast<int>(slots) * at.cell, at.panel_height() - at.panel_head, heat(0));
  for (std::size_t s = 0; s < slots; ++s) {
    const int y = at.panel_head + static_cast<int>(s) * at.cell;
    for (std::size_t token = 0; token < slots + at.characters; ++token) {
      const float share = attention.map[layer][head][s][token];
      if (share >= 0.005f) out += rect(at.column(token) + 0.5, y + 0.5, at.cell - 1, at.cell - 1, heat(share));
    }
    const double base = y + at.cell * 0.74;
    out += text_at(12, base, "digit", digit_name(reading, s));
    out += text_at(at.label_width - 8, base, "sure", percent(reading.certainty[s]));
  }
  return out;
}

std::string panel(const Geometry& at, const Reading& reading, const Attention& attention, std::size_t layer,
                  std::size_t head) {
  const bool points =
      reading.is_date() && layer + 1 == layers && head == pointing_head(attention, layer, at.characters);
  const std::string text = printable(reading.text.view());
  std::string out = format("<g transform=\"translate(%d %d)\">\n", at.left(layer), at.top(head));
  out += text_at(at.label_width, 14, points ? "name points" : "name",
                 format("layer %zu, head %zu%s", layer, head, points ? ": points" : ""));
  const double base = at.panel_head - 6;
  for (std::size_t c = 0; c < text.size(); ++c) {
    if (text[c] == ' ') continue;
    out += text_at(at.column(slots + c) + at.cell / 2.0, base, "letter", std::string(1, text[c]));
  }
  for (std::size_t s = 0; s < slots; ++s) {
    out += text_at(at.column(s) + at.cell / 2.0, base, "letter answer", digit_name(reading, s));
  }
  return out + cells(at, reading, attention, layer, head) + "</g>\n";
}

std::string legend(double x, double y) {
  std::string out = text_at(x, y + 11, "note", "0%");
  for (int i = 0; i <= 20; ++i) out += rect(x + 26 + i * 7, y, 7.5, 14, heat(static_cast<float>(i) / 20));
  return out + text_at(x + 182, y + 11, "note", "100% of a digit's attention");
}

constexpr char style[] =
    ".points { fill: #fde480; font-weight: bold }\n"
    ".letter { font-size: 13px; text-anchor: middle } .answer { fill: #a9a4c0 }\n"
    ".digit { font-size: 13px; font-weight: bold } .sure { font-size: 11px; fill: #a9a4c0; text-anchor: end }\n";

}  // namespace

// The picture has a background, so that it is readable on light and on dark pages.
std::string svg_picture(const Reading& reading, const Attention& attention) {
  const Geometry at(reading.text.size);
  const auto iso = reading.iso();
  const std::string answer =
      reading.is_date() ? " = " + std::string(iso.data(), iso.size()) : " is not a date I can read";
  std::string out = head(at.width(), at.height(), style);
  out += text_at(at.margin, 42, "title", format("\"%s\"%s", printable(reading.text.view()).c_str(), answer.c_str()));
  out +=
      text_at(at.margin, 68, "note", "What each of the eight digits looks at, in every head: the text's characters,");
  out +=
      text_at(at.margin, 84, "note", "and to the right of them the eight answers. Beside each digit: how sure it is.");
  for (std::size_t layer = 0; layer < layers; ++layer) {
    for (std::size_t head = 0; head < shape.heads; ++head) out += panel(at, reading, attention, layer, head);
  }
  return out + legend(at.margin + at.label_width, at.height() - at.foot_room) + "</svg>\n";
}

}  // namespace date_reader
