// Reads a date as people write it: an encoder that sees up to 40 characters and answers with the eight digits of
// YYYYMMDD, or says that there is no date. For any machine: no allocation, no exceptions, no I/O, no libm, no state.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <ladon/encoder.hpp>

namespace date_reader {

inline constexpr std::size_t longest_text = 40;  // characters, spaces squeezed
inline constexpr std::size_t slots = 8;          // one for each digit of YYYYMMDD
inline constexpr std::size_t classes = 11;       // ten digits and "no date"
inline constexpr std::size_t no_date_class = 10;
inline constexpr int first_year = 1000, last_year = 2999;

// The slots are the first tokens, the text follows them; training had them after the 40 places of the text. The order
// is free, for the places that the model knows are embeddings. In this one the unused places are at the end, where the
// padding mask is an active length, and the last layer need only work out the first eight tokens. For 16 characters
// that takes a third of the time of a mask over all 48 tokens with one lane (77 instead of 223 microseconds), and six
// tenths of it with AVX-512 (12.8 instead of 20.6).
inline constexpr std::size_t layers = 2;
inline constexpr std::size_t feed_forward = 96;
inline constexpr ladon::Shape shape{.queries = slots + longest_text, .model = 48, .heads = 4};
template <class Precision>
using EncoderOf =
    ladon::Encoder<layers, shape, ladon::LayerConfig{.feed_forward = feed_forward, .norm = ladon::NormOrder::pre},
                   ladon::mask::None, ladon::FinalNorm::with, ladon::layout::InProj::With<Precision>>;
using Encoder = EncoderOf<ladon::precision::Float32>;

// The caller's scratch memory. It holds nothing between two texts. Its type says whether the weights are float32 or
// int8.
template <class Precision>
struct WorkspaceOf {
  float tokens[shape.queries][shape.model];
  typename EncoderOf<Precision>::Workspace encoder;
};
using Workspace = WorkspaceOf<ladon::precision::Float32>;
using Int8Workspace = WorkspaceOf<ladon::precision::Int8<8>>;

// What the model sees of a text: lower case, runs of spaces as one, none at the ends.
struct Squeezed {
  std::array<char, longest_text> characters;
  std::size_t size;
  constexpr std::string_view view() const noexcept { return {characters.data(), size}; }
};

enum class Status : std::uint8_t { date, no_date, empty, too_long, not_ascii };

struct Reading {
  Status status;
  Squeezed text;
  // Meaningful for date and no_date: the likeliest class of each slot and its probability.
  std::array<std::uint8_t, slots> digits;
  std::array<float, slots> certainty;

  constexpr bool is_date() const noexcept { return status == Status::date; }
  // "2024-02-03". Precondition: no slot says "no date".
  constexpr std::array<char, 10> iso() const noexcept {
    std::array<char, 10> out{};
    for (std::size_t i = 0, at = 0; i < slots; ++i) {
      if (i == 4 || i == 6) out[at++] = '-';
      out[at++] = static_cast<char>('0' + digits[i]);
    }
    return out;
  }
};

// How much the first `slots` tokens look at each token: map[layer][head][slot][token], tokens ordered as above. What
// lies beyond the text is 0, and rows of other tokens are there in all layers but the last.
struct Attention {
  float map[layers][shape.heads][shape.queries][shape.queries];
  constexpr float of(std::size_t layer, std::size_t head, std::size_t slot, std::size_t character) const noexcept {
    return map[layer][head][slot][slots + character];
  }
};

// Logits by class, then slot.
using Logits = std::array<std::array<float, slots>, classes>;

// Lower-cases and squeezes. Status::date here means that the text may be read.
Status squeeze(std::string_view text, Squeezed& squeezed) noexcept;

// The model alone. `attention` may be null.
void run_model(const Squeezed& text, Logits& logits, Workspace& workspace, Attention* attention = nullptr) noexcept;

// From text to date: squeeze, run the model, choose, and look into the calendar.
Reading read(std::string_view text, Workspace& workspace, Attention* attention = nullptr) noexcept;
// Does the same with int8 weights (reader_int8.cpp).
Reading read(std::string_view text, Int8Workspace& workspace, Attention* attention = nullptr) noexcept;

// Bytes of the weights, which are constant data.
extern const std::size_t weight_bytes, int8_weight_bytes;

}  // namespace date_reader
