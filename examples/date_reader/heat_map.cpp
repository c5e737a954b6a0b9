#include "heat_map.hpp"

#include <algorithm>
#include <array>

#include "palette.hpp"
#include "text.hpp"

namespace date_reader {
namespace {

using examples::format, examples::painted, examples::percent, examples::printable, examples::shade, examples::shades;

constexpr std::size_t label_columns = 20, screen_columns = 80, widest_cell = 3;

std::string label(const Reading& reading, std::size_t slot) {
  const char* const name = slot == 0 ? "year" : slot == 4 ? "month" : slot == 6 ? "day" : "";
  const char digit = reading.digits[slot] == no_date_class ? '-' : static_cast<char>('0' + reading.digits[slot]);
  return format("  %-5s  %c  %6s  ", name, digit, percent(reading.certainty[slot]).c_str());
}

// Returns a text of `width` characters: `c` in the middle, and spaces on both sides.
std::string cell(char c, std::size_t width) {
  std::string text(width, ' ');
  text[(width - 1) / 2] = c;
  return text;
}

std::string legend(Colour colour) {
  if (colour == Colour::none) return format("\"%s\" stands for 0 to 100%%", std::string(shades).c_str());
  std::string text = "0 ";
  for (int i = 0; i <= 10; ++i) text += painted(" ", static_cast<float>(i) / 10, colour);
  return text + " 100%";
}

}  // namespace

std::size_t pointing_head(const Attention& attention, std::size_t layer, std::size_t characters) {
  std::array<float, shape.heads> seen{};
  for (std::size_t h = 0; h < shape.heads; ++h) {
    for (std::size_t c = 0; c < characters; ++c) {
      float most = 0;
      for (std::size_t s = 0; s < slots; ++s) most = std::max(most, attention.of(layer, h, s, c));
      seen[h] += most;
    }
  }
  return static_cast<std::size_t>(std::max_element(seen.begin(), seen.end()) - seen.begin());
}

std::string terminal_picture(const Reading& reading, const Attention& attention, std::size_t layer, std::size_t head,
                             Colour colour) {
  const std::string text = printable(reading.text.view());
  const std::size_t width = std::clamp((screen_columns - label_columns) / text.size(), std::size_t{1}, widest_cell);
  std::string picture, line(label_columns, ' ');
  const auto end_line = [&] { picture += line.substr(0, line.find_last_not_of(' ') + 1) + '\n'; };
  for (const char c : text) line += cell(c, width);
  end_line();
  for (std::size_t s = 0; s < slots; ++s) {
    line = label(reading, s);
    for (std::size_t c = 0; c < text.size(); ++c) {
      const float share = attention.of(layer, head, s, c);
      // In a picture with colours, each cell with a share of at least 0.25 contains the character of its column, so
      // that the reader need not count columns.
      line += colour == Colour::none ? std::string(width, shade(share))
                                     : painted(cell(share < 0.25f ? ' ' : text[c], width), share, colour);
    }
    end_line();
  }
  return picture + format("\n  Where each digit looks: layer %zu, head %zu; ", layer, head) + legend(colour) + '\n';
}

}  // namespace date_reader
