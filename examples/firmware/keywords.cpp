// keywords [--logits] FILE...: prints the word that KWT-1 finds in each recording of at most a second. Also prints how
// many instructions and how much memory the answer takes. With --logits, prints the logit of each label too.
#include <algorithm>
#include <array>
#include <cmath>
#include <new>
#include <span>
#include <string_view>

#include "board.hpp"
#include "front_end.hpp"
#include "kwt1.hpp"
#include "print.hpp"
#include "stream.hpp"
#include "wav.hpp"

namespace {

using namespace keywords;

using Logits = std::array<float, label_count>;

// The state of the front end, which computes the features of a recording.
struct Hearing {
  FrontEnd front_end;
  FeatureStream features{front_end};
};
// The front end and the encoder use the same memory, because the encoder runs after the front end. `workspace` first
// holds the front end (Hearing), and then the workspace of the encoder.
constinit struct Memory {
  kwt1::Workspace workspace;
  std::array<float, token_count * model_width> x;

  Hearing& start_hearing() noexcept {
    static_assert(sizeof(Hearing) <= sizeof workspace && alignof(Hearing) <= alignof(kwt1::Workspace));
    return *new (workspace.bytes) Hearing;
  }
} memory{};

struct Answer {
  Logits logits;
  std::uint64_t feature_instructions = 0, model_instructions = 0;
};

// Prints a number with `digits` digits after the decimal point.
void print_decimal(float number, int digits) noexcept {
  std::uint32_t unit = 1;
  for (int i = 0; i < digits; ++i) unit *= 10;
  const auto rounded = static_cast<std::uint32_t>(std::abs(number) * static_cast<float>(unit) + 0.5f);
  print(number < 0 ? "-" : "");
  board::print_number(rounded / unit);
  print(".");
  for (std::uint32_t place = unit / 10; place > 0; place /= 10) board::print_number(rounded / place % 10);
}

// Reads one second in steps of 10 ms, as a microphone would deliver the samples.
void hear(Wav& wav, Hearing& hearing, Answer& answer) noexcept {
  for (std::size_t i = 0; i < window_length; i += frame_step) {
    std::array<float, frame_step> samples{};  // a short recording ends in silence
    wav.read(samples);
    const std::uint64_t before = board::instructions();
    hearing.features.add(samples);
    answer.feature_instructions += board::instructions() - before;
  }
}

ladon_status answer_recording(Wav& wav, Answer& answer) noexcept {
  const std::uint64_t start = board::instructions();
  Hearing& hearing = memory.start_hearing();
  answer.feature_instructions = board::instructions() - start;
  hear(wav, hearing, answer);
  const std::uint64_t before = board::instructions();
  embed(hearing.features.features().data(), kwt1::embedding, memory.x.data());
  std::array<float, model_width> y;
  const ladon_status status = kwt1::run(memory.x.data(), y.data(), memory.workspace);
  ladon::linear(kwt1::head, y, answer.logits);
  answer.model_instructions = board::instructions() - before;
  return status;
}

void print_answer(std::string_view name, const Answer& answer, bool with_logits) noexcept {
  const auto& logits = answer.logits;
  const auto best = std::ranges::max_element(logits);
  float sum = 0;
  for (const float logit : logits) sum += std::exp(logit - *best);
  name.remove_prefix(name.rfind('/') + 1);  // substr may throw, but the program has no exceptions
  print(name);
  print("\n  ");
  print(labels[static_cast<std::size_t>(best - logits.begin())]);
  print("  ");
  print_decimal(1 / sum, 3);
  print("\n");
  for (std::size_t i = 0; with_logits && i < label_count; ++i) {
    print("  logit ");
    print_decimal(logits[i], 6);
    print("  ");
    print(labels[i]);
    print("\n");
  }
  print_row("instructions for the features", answer.feature_instructions);
  print_row("instructions for the model", answer.model_instructions);
}

void print_memory(std::size_t stack) noexcept {
  const board::Image image = board::image();
  print("bytes of flash\n");
  print_row("code, constants and weights", image.flash);
  print("bytes of RAM\n");
  print_row("workspace of the encoder, before it the front end", sizeof memory.workspace);
  print_row("input of the encoder", sizeof memory.x);
  print_row("stack", stack);
  print_row("the rest, the board's included", image.written - sizeof memory);
  print_row("all", image.written + stack);
}

// Prints the answer for one recording, or the error. `stack` is the largest number of bytes of stack that an earlier
// answer took. If this answer takes more, updates `stack`. Returns whether there is an answer.
bool spot(const char* name, bool with_logits, std::size_t& stack) noexcept {
  Wav wav(name);
  const char* error = wav.error();
  if (error == nullptr && wav.left() > window_length) error = "is longer than 1 s";
  if (error != nullptr) {
    print("keywords: ");
    print(name);
    print(": ");
    print(error);
    print("\n");
    return false;
  }
  Answer answer;
  board::paint_stack();
  const ladon_status status = answer_recording(wav, answer);
  stack = std::max(stack, board::stack_used());
  if (status != LADON_OK) {
    print(ladon_status_text(status));
    return false;
  }
  print_answer(name, answer, with_logits);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const bool with_logits = argc > 1 && std::string_view(argv[1]) == "--logits";
  const int first = with_logits ? 2 : 1;
  if (argc <= first) {
    print("usage: keywords [--logits] FILE...\n");
    return 2;
  }
  std::size_t stack = 0;
  for (int i = first; i < argc; ++i) {
    if (!spot(argv[i], with_logits, stack)) return 2;
  }
  print_memory(stack);
  return 0;
}
