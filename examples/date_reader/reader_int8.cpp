// Implements `read` with int8 weights.
#include "encoder_weights.hpp"
#include "int8_encoder_weights.hpp"
#include "reader_steps.hpp"

namespace date_reader {

const std::size_t int8_weight_bytes =
    all_weight_bytes - saved_bytes(int8::layer0_in_proj) - saved_bytes(int8::layer0_out_proj) -
    saved_bytes(int8::layer0_linear1) - saved_bytes(int8::layer0_linear2) - saved_bytes(int8::layer1_in_proj) -
    saved_bytes(int8::layer1_out_proj) - saved_bytes(int8::layer1_linear1) - saved_bytes(int8::layer1_linear2) -
    saved_bytes(int8::slot) - saved_bytes(int8::character) - saved_bytes(int8::position);

namespace {
struct Int8Tables {
  float slot(std::size_t row, std::size_t i) const noexcept { return int8::slot(row, i); }
  float character(std::size_t row, std::size_t i) const noexcept { return int8::character(row, i); }
  float position(std::size_t row, std::size_t i) const noexcept { return int8::position(row, i); }
};
}  // namespace

Reading read(std::string_view text, Int8Workspace& workspace, Attention* attention) noexcept {
  return read_with(int8_encoder_weights, Int8Tables{}, text, workspace, attention);
}

}  // namespace date_reader
