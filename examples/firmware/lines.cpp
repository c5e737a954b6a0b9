#include "lines.hpp"

bool Lines::take(char& character) noexcept {
  if (taken_ == held_) {
    held_ = file_.read(buffer_);
    taken_ = 0;
  }
  if (held_ == 0) return false;
  character = buffer_[taken_++];
  return true;
}

bool Lines::next(std::string_view& text) noexcept {
  std::size_t size = 0;
  bool in_text = true, any = false;
  for (char c; take(c); any = true) {
    if (c == '\n') {
      any = true;
      break;
    }
    if (c == '\t') in_text = false;
    if (in_text && size + 1 < line_.size()) line_[size++] = c;
  }
  line_[size] = 0;
  text = {line_.data(), size};
  return any;
}
