// SPDX-License-Identifier: Apache-2.0
// Defines text_of, which returns a text as an array of chars. The compiler writes this text during constant evaluation.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include <ladon/shape.hpp>

namespace c_kernel::inline LADON_ABI {

// The values of the placeholders in a text: "@name@" stands for `name`, "@NAME@" for `upper_case`, and "@keys@" for
// shape.keys. Writer::placeholder lists all placeholders for sizes.
struct Placeholders {
  std::string_view name;
  std::string_view upper_case;
  ladon::Shape shape;
};

// Writes text into the array `out`, and replaces the placeholders. If `out` is null, only counts the characters.
class Writer {
 public:
  constexpr explicit Writer(const Placeholders& values, char* out = nullptr) : values_(values), out_(out) {}
  constexpr std::size_t size() const { return size_; }

  // Writes `text`. An unknown placeholder stays in the text. The loop reads chars by index instead of calling functions
  // of std::string_view, because these functions take several steps for each char, and compilers limit the number of
  // steps in constant evaluation.
  constexpr Writer& operator<<(std::string_view text) {
    const char* const chars = text.data();
    const std::size_t count = text.size();
    for (std::size_t i = 0; i < count; ++i) {
      if (chars[i] == '@') {
        const std::size_t end = text.find('@', i + 1);
        if (end != text.npos && placeholder(text.substr(i + 1, end - i - 1))) {
          i = end;
          continue;
        }
      }
      if (out_ != nullptr) out_[size_] = chars[i];
      ++size_;
    }
    return *this;
  }
  constexpr Writer& operator<<(std::size_t number) {
    if (number >= 10) *this << number / 10;
    const char digit = static_cast<char>('0' + number % 10);
    return *this << std::string_view(&digit, 1);
  }

 private:
  // Writes the value of a placeholder. Returns false if the placeholder is unknown.
  constexpr bool placeholder(std::string_view word) {
    const ladon::Shape& shape = values_.shape;
    if (word == "name") {
      *this << values_.name;
    } else if (word == "NAME") {
      *this << values_.upper_case;
    } else if (word == "queries") {
      *this << shape.queries;
    } else if (word == "keys") {
      *this << shape.keys;
    } else if (word == "model") {
      *this << shape.model;
    } else if (word == "heads") {
      *this << shape.heads;
    } else if (word == "kv_heads") {
      *this << shape.kv_heads;
    } else if (word == "head_width") {
      *this << shape.head_width;
    } else if (word == "value_width") {
      *this << shape.value_width;
    } else if (word == "key_model") {
      *this << shape.key_model;
    } else if (word == "value_model") {
      *this << shape.value_model;
    } else {
      return false;
    }
    return true;
  }

  const Placeholders& values_;
  char* out_;
  std::size_t size_ = 0;
};

// Returns the text that Source::write(writer) writes, as an array of chars that ends with a zero. The member
// Source::placeholders has the values of placeholders such as @name@.
template <class Source>
constexpr auto text_of() {
  constexpr std::size_t size = [] {
    Writer counted(Source::placeholders);
    Source::write(counted);
    return counted.size();
  }();
  std::array<char, size + 1> text{};
  Writer writer(Source::placeholders, text.data());
  Source::write(writer);
  return text;
}

// A list of at most N items of type T.
template <class T, std::size_t N>
struct List {
  std::array<T, N> items{};
  std::size_t count = 0;

  constexpr void add(const T& item) { items[count++] = item; }
  constexpr T* begin() { return items.data(); }
  constexpr T* end() { return items.data() + count; }
  constexpr const T* begin() const { return items.data(); }
  constexpr const T* end() const { return items.data() + count; }
};

}  // namespace c_kernel::inline LADON_ABI
