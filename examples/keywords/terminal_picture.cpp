#include <algorithm>

#include "palette.hpp"
#include "picture.hpp"
#include "text.hpp"

namespace keywords {
namespace {

using examples::Colour, examples::format;

constexpr std::size_t frames_of_column = 2, column_count = frame_count / frames_of_column;
static_assert(frame_count % frames_of_column == 0);

std::string time_axis() {
  constexpr std::size_t label_columns = 10, columns_of_fifth = sample_rate / 5 / frame_step / frames_of_column;
  std::string axis(label_columns + column_count, ' ');
  for (std::size_t fifth = 0; fifth < 5; ++fifth) {
    const std::string time = format("%.1f", static_cast<double>(fifth) / 5);
    axis.replace(label_columns + fifth * columns_of_fifth, time.size(), time);
  }
  return axis.substr(0, axis.find_last_not_of(' ') + 1) + " s\n";
}

std::string row_of(const float* frames, float most, Colour colour) {
  std::string row;
  for (std::size_t column = 0; column < column_count; ++column) {
    const float* const from = frames + column * frames_of_column;
    const float share = most > 0 ? *std::max_element(from, from + frames_of_column) / most : 0.0f;
    row += colour == Colour::none ? std::string(1, examples::shade(share)) : examples::painted(" ", share, colour);
  }
  return row;
}

}  // namespace

std::string terminal_picture(const ClassAttention& attention, Colour colour) {
  std::string picture = time_axis();
  for (std::size_t layer = 0; layer < layer_count; ++layer) {
    const float* const frames = attention[layer].data() + 1;  // skips token 0, the class token
    const float most = *std::max_element(frames, frames + frame_count);
    picture += format("layer %2zu |", layer) + row_of(frames, most, colour) +
               format("| %5.1f%%\n", 100 * static_cast<double>(most));
  }
  return picture;
}

}  // namespace keywords
