// Reads a date in many of the forms that people use. An encoder sees up to 40 characters. For a date, it answers with
// the eight digits of YYYYMMDD. For any other text, it answers "no date". The code runs on any machine: no allocation,
// no exceptions, no I/O, no libm, no state.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <ladon/encoder.hpp>

namespace date_reader {

inline constexpr std::size_t longest_text = 40;  // characters, after spaces are squeezed
inline constexpr std::size_t slots = 8;          // one for each digit of YYYYMMDD
inline constexpr std::size_t classes = 11;       // ten digits and "no date"
inline constexpr std::size_t no_date_class = 10;
inline constexpr int first_year = 1000, last_year = 2999;

// The first tokens are the slots, which answer with the eight digits, and the characters of the text follow. In
// training, the order was different: the 40 places for the text came first. The order of tokens changes no result,
// because the model knows positions only by embeddings. With the slots first, all unused places are at the end. So the
// option `keys` (the active length) can replace the padding mask, and the last layer computes only the first eight
// tokens. The table has the times for a text of 16 characters, either with a padding mask over all 48 tokens or with
// the option `keys`:
//     vectors                   padding mask      `keys`
//     plain arrays, one lane          223 us       77 us
//     AVX-512                        20.6 us     12.8 us
inline constexpr std::size_t layers = 2;
inline constexpr std::size_t feed_forward = 96;
inline constexpr ladon::Model model_sizes{.layers = layers,
                                          .tokens = slots + longest_text,
                                          .model = 48,
                                          .heads = 4,
                                          .feed_forward = feed_forward,
                                          .norm = ladon::NormOrder::pre,
                                          .final_norm = ladon::FinalNorm::with};
inline constexpr ladon::Shape shape = model_sizes.shape();
template <class Precision>
using EncoderOf = ladon::Encoder<model_sizes, ladon::mask::Unmasked, ladon::layout::InProj::With<Precision>>;
using Encoder = EncoderOf<ladon::precision::Float32>;

// The scratch memory of `read`, which the caller provides. A workspace keeps no data between two texts. The type of the
// workspace selects float32 or int8 weights.
template <class Precision>
struct WorkspaceOf {
  float tokens[shape.queries][shape.model];
  typename EncoderOf<Precision>::Workspace encoder;
};
using Workspace = WorkspaceOf<ladon::precision::Float32>;
using Int8Workspace = WorkspaceOf<ladon::precision::Int8<8>>;

// The text as the model sees it: lower case, runs of spaces as one space, and no spaces at the ends.
struct Squeezed {
  std::array<char, longest_text> characters;
  std::size_t size;
  constexpr std::string_view view() const noexcept { return {characters.data(), size}; }
};

enum class Status : std::uint8_t { date, no_date, empty, too_long, not_ascii };

struct Reading {
  Status status;
  Squeezed text;
  // For each digit of YYYYMMDD: the likeliest class (0 to 9, or "no date"), and the probability of this class. Valid
  // only if `status` is date or no_date.
  std::array<std::uint8_t, slots> digits;
  std::array<float, slots> certainty;

  constexpr bool is_date() const noexcept { return status == Status::date; }
  // Returns a date such as "2024-02-03". Precondition: the members of `digits` are digits, so none is the class "no
  // date".
  constexpr std::array<char, 10> iso() const noexcept {
    std::array<char, 10> out{};
    for (std::size_t i = 0, at = 0; i < slots; ++i) {
      if (i == 4 || i == 6) out[at++] = '-';
      out[at++] = static_cast<char>('0' + digits[i]);
    }
    return out;
  }
};

// The attention weights: map[layer][head][query][token] is the weight that the token `query` gives to `token`. The
// first tokens are the eight slots, which answer with the digits. The characters follow. The weights of tokens behind
// the text are 0. The last layer has only the rows of the slots. All other layers also have the rows of the characters.
struct Attention {
  float map[layers][shape.heads][shape.queries][shape.queries];
  constexpr float of(std::size_t layer, std::size_t head, std::size_t slot, std::size_t character) const noexcept {
    return map[layer][head][slot][slots + character];
  }
};

// The logits: logits[class][slot].
using Logits = std::array<std::array<float, slots>, classes>;

// Lower-cases a text and squeezes its spaces. Returns Status::date if the model can read the text. This does not mean
// that the text is a date.
Status squeeze(std::string_view text, Squeezed& squeezed) noexcept;

// Runs the encoder and the classifier, and writes `logits`, but does not choose the digits. `attention` may be null.
void run_model(const Squeezed& text, Logits& logits, Workspace& workspace, Attention* attention = nullptr) noexcept;

// Reads a date: squeezes the text, runs the model, chooses the digits, and checks the calendar.
Reading read(std::string_view text, Workspace& workspace, Attention* attention = nullptr) noexcept;
// Reads a date with int8 weights (reader_int8.cpp).
Reading read(std::string_view text, Int8Workspace& workspace, Attention* attention = nullptr) noexcept;

// The sizes of the weights in bytes. The weights are constant data.
extern const std::size_t weight_bytes, int8_weight_bytes;

}  // namespace date_reader
