// SPDX-License-Identifier: Apache-2.0
// Runs a kernel on recorded inputs, and compares the results with recorded results (check.cpp.in). LADON_CHECK_ON_BOARD
// is for a machine without an operating system.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <limits>
#include <span>
#include <string_view>
#include <type_traits>

#include "difference.hpp"

namespace c_kernel {

#ifdef LADON_CHECK_ON_BOARD
inline constexpr bool has_stderr = false;  // fprintf would take more flash than the check
#else
inline constexpr bool has_stderr = true;
#endif

// A tensor of the file that CHECK names.
struct Recorded {
  std::string_view name, type;  // a type such as "float"
  const void* data;
  std::size_t bytes;
  std::array<std::size_t, 8> extents;  // 0 after the last extent

  [[nodiscard]] constexpr std::size_t rank() const {
    return static_cast<std::size_t>(std::ranges::find(extents, 0U) - extents.begin());
  }
  [[nodiscard]] constexpr std::size_t last() const { return extents[rank() - 1]; }
};

// The tensors of a file: one sample with an input x [tokens][model], or several samples with [samples][tokens][model].
// With several samples, each tensor has one more extent.
class Sample {
 public:
  // `kernel` begins the texts that are printed to stderr.
  Sample(const char* kernel, std::span<const Recorded> tensors) : kernel_(kernel), tensors_(tensors) {
    const Recorded* x = find("x");
    if (x != nullptr && x->rank() == 3) count_ = x->extents[0];
    has_count_ = x != nullptr && x->rank() == 3;
  }
  [[nodiscard]] std::size_t count() const { return count_; }

  [[nodiscard]] const Recorded* find(std::string_view name) const {
    const auto found = std::ranges::find(tensors_, name, &Recorded::name);
    return found == tensors_.end() ? nullptr : &*found;
  }
  // Returns the elements of a tensor in one sample, or null if the file lacks the tensor.
  template <class T>
  [[nodiscard]] const T* at(std::string_view name, std::size_t sample) const {
    const Recorded* tensor = find(name);
    if (tensor == nullptr) return nullptr;
    return static_cast<const T*>(tensor->data) + sample * (tensor->bytes / sizeof(T) / count_);
  }
  // Returns the rows of a required tensor of floats in one sample. Returns 0, and prints why, if the tensor is missing,
  // is not [rows][width] with at most `most` rows, or lacks the samples of x.
  [[nodiscard]] std::size_t rows(const char* name, std::size_t width, std::size_t most) const {
    const Recorded* tensor = find(name);
    if (tensor == nullptr) return wrong(name, "is missing", width, most);
    const std::size_t rank = tensor->rank();
    if (tensor->type != "float") return wrong(name, "is not float32", width, most);
    if (rank != (has_count_ ? 3U : 2U) || tensor->last() != width || (has_count_ && tensor->extents[0] != count_))
      return wrong(name, "has another shape", width, most);
    const std::size_t rows = tensor->extents[rank - 2];
    return rows <= most ? rows : wrong(name, "has too many rows", width, most);
  }
  // Checks an option's tensor, which the file must have. Prints a problem if the elements are not of type T, or if a
  // sample has fewer than `least` elements.
  template <class T>
  [[nodiscard]] bool fits(std::string_view name, std::size_t least) const {
    const Recorded* tensor = find(name);
    const bool is_type = tensor->type == (std::is_same_v<T, float>           ? "float"
                                          : std::is_same_v<T, unsigned char> ? "uint8_t"
                                                                             : "uint32_t");
    const bool has_samples = !has_count_ || tensor->extents[0] == count_;
    if (is_type && has_samples && tensor->bytes / sizeof(T) / count_ >= least) return true;
    if constexpr (has_stderr)
      std::fprintf(stderr, "%s: CHECK: the tensor \"%.*s\" has another type, or not the samples and tokens of \"x\"\n",
                   kernel_, static_cast<int>(name.size()), name.data());
    return false;
  }

 private:
  std::size_t wrong(const char* name, const char* what, std::size_t width, std::size_t most) const {
    if constexpr (has_stderr)
      std::fprintf(stderr,
                   "%s: CHECK: the tensor \"%s\" %s; expected float32 [rows][%lu] with at most %lu rows, or as many "
                   "samples of them as \"x\" has\n",
                   kernel_, name, what, static_cast<unsigned long>(width), static_cast<unsigned long>(most));
    return 0;
  }

  const char* kernel_;
  std::span<const Recorded> tensors_;
  std::size_t count_ = 1;
  bool has_count_ = false;
};

// Lets an option point to the tensor with its name, if the kernel has the option and the file has the tensor. Returns
// false if the tensor does not fit. A mask has the tensor's columns.
#define LADON_SAMPLE_OPTION(option, least)                                                                     \
  if constexpr (requires { to.option; }) {                                                                     \
    using Element = std::remove_cv_t<std::remove_pointer_t<std::remove_cvref_t<decltype(to.option)>>>;         \
    const std::string_view name = in_memory ? std::string_view("memory_" #option) : std::string_view(#option); \
    if (sample.find(name) != nullptr && !sample.fits<Element>(name, least)) return false;                      \
    to.option = sample.at<Element>(name, number);                                                              \
    if constexpr (requires { to.option##_keys; })                                                              \
      if (to.option != nullptr) to.option##_keys = sample.find(name)->last();                                  \
  }
template <class Options>
bool set_options(Options& to, const Sample& sample, std::size_t number, std::size_t tokens, std::size_t keys,
                 bool in_memory) {
  LADON_SAMPLE_OPTION(padding, keys)
  LADON_SAMPLE_OPTION(boolean, tokens * sample.find(name)->last())
  LADON_SAMPLE_OPTION(additive, tokens * sample.find(name)->last())
  LADON_SAMPLE_OPTION(slopes, 1)
  LADON_SAMPLE_OPTION(sinks, 1)
  LADON_SAMPLE_OPTION(relative, 1)
  return true;
}
#undef LADON_SAMPLE_OPTION

// Prints the result of the check. Returns the exit status of the program.
inline int report(const char* kernel, double off, double tolerance) {
  const bool agrees = off <= tolerance;
  std::FILE* const out = agrees ? stdout : stderr;
  std::fprintf(out, "%s: CHECK: y differs from the recorded y by up to %.1e of its largest value", kernel, off);
  if (!agrees)
    std::fprintf(out, ", but %.1e is allowed. Compare the arguments of ladon_add_kernel with the model", tolerance);
  std::fprintf(out, "\n");
  return agrees ? 0 : 1;
}

// Runs a Kernel on all samples. Writes the results of the last sample into `y` [queries][model]. A Kernel has these
// members:
//     name, other        texts: `other` is "memory", "context" or ""
//     queries, model, other_tokens, other_width, tolerance
//     Options            NAME_options
//     run(x, other, y, options)    returns an error as a text, or null
// Returns the largest difference of a result from the recorded result, divided by the largest recorded magnitude, or -1
// if the tensors do not fit the kernel, or if the kernel returns an error.
template <class Kernel>
double difference_of(std::span<const Recorded> tensors, float* y) {
  const Sample sample(Kernel::name, tensors);
  const std::size_t tokens = sample.rows("x", Kernel::model, Kernel::queries);
  if (tokens == 0 || sample.rows("y", Kernel::model, tokens) != tokens) return -1;
  constexpr bool takes_other = !std::string_view(Kernel::other).empty();
  constexpr bool has_memory = requires(typename Kernel::Options options) { options.memory.keys; };
  std::size_t other_tokens = 0;
  if constexpr (takes_other) {
    other_tokens = sample.rows(Kernel::other, Kernel::other_width, Kernel::other_tokens);
    if (other_tokens == 0) return -1;
  }
  Difference difference;
  for (std::size_t number = 0; number < sample.count(); ++number) {
    typename Kernel::Options options = {};
    if constexpr (requires { options.tokens; }) {
      options.tokens = tokens;
    } else {
      options.queries = tokens;
      options.keys = other_tokens;
    }
    if (!set_options(options, sample, number, tokens, takes_other && !has_memory ? other_tokens : tokens, false))
      return -1;
    if constexpr (has_memory) {
      options.memory.keys = other_tokens;
      if (!set_options(options.memory, sample, number, tokens, other_tokens, true)) return -1;
    }
    std::fill_n(y, tokens * Kernel::model, std::numeric_limits<float>::quiet_NaN());
    const char* error = Kernel::run(sample.at<float>("x", number), sample.at<float>(Kernel::other, number), y, options);
    if (error != nullptr) {
      if constexpr (has_stderr) std::fprintf(stderr, "%s: CHECK: %s\n", Kernel::name, error);
      return -1;
    }
    const float* recorded = sample.at<float>("y", number);
    for (std::size_t i = 0; i < tokens * Kernel::model; ++i) difference.add(recorded[i], y[i]);
  }
  return difference.relative();
}

// Checks a Kernel. Returns the exit status of the program: 0 if the results agree.
template <class Kernel>
int check_sample(std::span<const Recorded> tensors) {
  static float y[Kernel::queries * Kernel::model];
  const double off = difference_of<Kernel>(tensors, y);
  return off < 0 ? 1 : report(Kernel::name, off, Kernel::tolerance);
}

}  // namespace c_kernel
