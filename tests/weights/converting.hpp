// Converts small checkpoints to BF16 or int8, and reads the output files.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "convert.hpp"
#include "file_error.hpp"
#include "safetensors_file.hpp"
#include "testing/fixtures.hpp"

namespace ladon::weights {

// The bytes of the file that a conversion writes, and the report of the conversion.
struct Output {
  std::string bytes;
  std::string report;
};

inline Output converted(const files::Checkpoint& checkpoint, Target target, const Selection& selection) {
  const examples::TemporaryFolder folder;
  const files::Safetensors file(folder.file("m.safetensors", checkpoint.content()));
  const ConversionPlan plan = plan_conversion(file, "m.safetensors", target, selection);
  check_values(file, "m.safetensors", plan);
  Output output;
  const auto deviations =
      write_converted(file, "m.safetensors", plan, [&](std::string_view bytes) { output.bytes += bytes; });
  output.report = report(plan, deviations);
  return output;
}

// Returns the text of the conversion's error, or "" if the conversion succeeds.
inline std::string error_of_converting(const files::Checkpoint& checkpoint, Target target,
                                       const Selection& selection = {}) {
  return examples::error_of<files::Error>([&] { static_cast<void>(converted(checkpoint, target, selection)); });
}

// The file that a conversion writes, opened for reading.
class ConvertedFile {
 public:
  ConvertedFile(const files::Checkpoint& checkpoint, Target target, const Selection& selection = {})
      : ConvertedFile(converted(checkpoint, target, selection)) {}

  [[nodiscard]] const files::Safetensors& file() const { return file_; }
  [[nodiscard]] const std::string& report() const { return report_; }
  [[nodiscard]] bool has(const std::string& name) const { return file_.tensors().contains(name); }
  [[nodiscard]] const files::Tensor& tensor(const std::string& name) const {
    CAPTURE(name);
    REQUIRE(has(name));
    return file_.tensors().find(name)->second;
  }
  [[nodiscard]] std::string bytes(const std::string& name) const {
    const auto bytes = file_.bytes(tensor(name));
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

 private:
  explicit ConvertedFile(const Output& output)
      : report_(output.report), file_(folder_.file("out.safetensors", output.bytes)) {}

  examples::TemporaryFolder folder_;
  std::string report_;
  files::Safetensors file_;
};

// Returns the bytes of 16-bit floats (F16 or BF16), whose bits are `values`.
inline std::string halves(const std::vector<std::uint16_t>& values) {
  std::string bytes(values.size() * sizeof(std::uint16_t), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

inline Selection keeping(std::vector<std::regex> keep) { return {std::move(keep), false}; }

}  // namespace ladon::weights
