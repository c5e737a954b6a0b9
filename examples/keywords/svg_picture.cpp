#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "palette.hpp"
#include "picture.hpp"
#include "svg.hpp"
#include "text.hpp"

namespace keywords {
namespace {

using examples::format, examples::svg::text_at;

constexpr int column_width = 8, left = 84, right = 84, spectrogram_top = 92, band_height = 3, layer_height = 15,
              axis_height = 34, foot = 40;
constexpr int picture_width = column_width * static_cast<int>(frame_count);
constexpr int spectrogram_height = band_height * static_cast<int>(mel_bands);
constexpr int attention_top = spectrogram_top + spectrogram_height + axis_height;
constexpr int attention_height = layer_height * static_cast<int>(layer_count);
constexpr int width = left + picture_width + right, height = attention_top + attention_height + axis_height + foot;

constexpr char style[] =
    ".axis { font-size: 12px; fill: #a9a4c0; text-anchor: middle }\n"
    ".side { font-size: 12px; fill: #a9a4c0; text-anchor: end }\n";

// Rows of coloured cells of a picture. Each cell shows a value from 0 to 1. Cells of the same colour are one path,
// because a rectangle for each cell would make the file five times as large.
class Cells {
 public:
  void add_row(int x, int y, int cell_height, std::span<const float> shares) {
    for (std::size_t begin = 0, end = 0; begin < shares.size(); begin = end) {
      const std::size_t level = level_of(shares[begin]);
      while (end < shares.size() && level_of(shares[end]) == level) ++end;
      if (level == 0) continue;  // the colour of the background
      const int run = static_cast<int>(end - begin) * column_width;
      paths_[level] +=
          format("M%d %dh%dv%dh-%dz", x + static_cast<int>(begin) * column_width, y, run, cell_height, run);
    }
  }

  [[nodiscard]] std::string text() const {
    std::string out;
    for (std::size_t level = 0; level < levels; ++level) {
      if (paths_[level].empty()) continue;
      const auto [red, green, blue] = examples::heat(static_cast<float>(level) / (levels - 1));
      out += format("<path fill=\"#%02x%02x%02x\" d=\"", unsigned{red}, unsigned{green}, unsigned{blue});
      out += paths_[level] + "\"/>\n";
    }
    return out;
  }

 private:
  static constexpr std::size_t levels = 24;
  static std::size_t level_of(float share) {
    return static_cast<std::size_t>(std::lround(std::clamp(share, 0.0f, 1.0f) * (levels - 1)));
  }

  std::array<std::string, levels> paths_;
};

std::string ground(int top, int panel_height) {
  return examples::svg::rect(left, top, picture_width, panel_height, examples::heat(0));
}

// Draws the mel bands, whose logarithms are in log_bands. The loudest band has the brightest colour, and a band that is
// 8 nepers (69 dB) quieter has the darkest colour. If no logarithm is above 0, the brightest colour stands for the
// logarithm 0, so that a quiet sound is dark.
std::string spectrogram(std::span<const float> log_bands) {
  constexpr float range = 8, quiet = 0;
  const float loudest = std::max(*std::ranges::max_element(log_bands), quiet);
  Cells cells;
  for (std::size_t band = 0; band < mel_bands; ++band) {
    std::array<float, frame_count> shares;
    for (std::size_t frame = 0; frame < frame_count; ++frame)
      shares[frame] = 1 + (log_bands[frame * mel_bands + band] - loudest) / range;
    const int rows_above = static_cast<int>(mel_bands - 1 - band);
    cells.add_row(left, spectrogram_top + rows_above * band_height, band_height, shares);
  }
  return ground(spectrogram_top, spectrogram_height) + cells.text();
}

std::string attention_rows(const ClassAttention& attention) {
  Cells cells;
  std::string labels;
  for (std::size_t layer = 0; layer < layer_count; ++layer) {
    const auto frames = std::span(attention[layer]).subspan<1>();  // skips token 0, the class token
    const float most = *std::ranges::max_element(frames);
    std::array<float, frame_count> shares{};
    if (most > 0) std::ranges::transform(frames, shares.begin(), [&](float share) { return share / most; });
    const int y = attention_top + static_cast<int>(layer) * layer_height;
    cells.add_row(left, y, layer_height - 1, shares);
    labels += text_at(left - 8, y + layer_height - 4, "side", format("layer %zu", layer));
    labels += text_at(width - 16, y + layer_height - 4, "side", format("%.1f%%", 100 * static_cast<double>(most)));
  }
  return ground(attention_top, attention_height) + cells.text() + labels;
}

std::string time_axis(int y) {
  std::string axis;
  for (int tenth = 0; tenth < 10; ++tenth) {
    const int x = left + tenth * column_width * static_cast<int>(sample_rate / 10 / frame_step);
    axis += format("<path stroke=\"#a9a4c0\" d=\"M%d %dv5\"/>\n", x, y);
    axis += text_at(x, y + 18, "axis", format("%.1f s", tenth / 10.0));
  }
  return axis;
}

std::string frequency_axis() {
  std::string axis;
  const double lowest = tables::mel(tables::lowest_hertz);
  const double range = tables::mel(tables::highest_hertz) - lowest;
  for (const int hertz : {100, 500, 1000, 2000, 4000, 7000}) {
    const double share = (tables::mel(hertz) - lowest) / range;
    axis += text_at(left - 8, spectrogram_top + (1 - share) * spectrogram_height + 4, "side", format("%d Hz", hertz));
  }
  return axis;
}

}  // namespace

std::string svg_picture(const std::string& title, std::span<const float> log_bands, const ClassAttention& attention) {
  std::string out = examples::svg::head(width, height, style);
  out += text_at(left, 42, "title", title);
  out += text_at(left, 68, "note", "The sound, and below, in each layer, what the class token attends to.");
  out += "<g shape-rendering=\"crispEdges\">\n" + spectrogram(log_bands) + attention_rows(attention) + "</g>\n";
  out += frequency_axis() + time_axis(spectrogram_top + spectrogram_height);
  out += time_axis(attention_top + attention_height);
  out += text_at(left, height - 22, "note",
                 "Each layer is scaled by its largest attention weight, which stands beside the layer.");
  return out + "</svg>\n";
}

}  // namespace keywords
