#include "text.hpp"

#include <cmath>

namespace examples {

std::string percent(float share) { return format("%.1f%%", std::floor(static_cast<double>(share) * 1000) / 10); }

std::string grouped(std::size_t number) {
  std::string text = std::to_string(number);
  for (std::size_t end = text.size(); end > 3; end -= 3) text.insert(end - 3, 1, ',');
  return text;
}

std::string printable(std::string_view text) {
  std::string shown(text);
  for (char& c : shown) {
    if (c < ' ' || c > '~') c = '?';
  }
  return shown;
}

}  // namespace examples
