#include "reports.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string_view>
#include <vector>

#include "picture.hpp"
#include "terminal.hpp"
#include "text.hpp"

namespace keywords {
namespace {

using examples::format, examples::printable;
// A JSON type that keeps the order of keys. Its numbers are floats, so a number is written as the shortest text from
// which a reader gets the same float.
using Json =
    nlohmann::basic_json<nlohmann::ordered_map, std::vector, std::string, bool, std::int64_t, std::uint64_t, float>;

struct Answer {
  std::string_view label;
  float probability;
};

Answer answer_of(const Logits& logits) {
  const std::size_t label = largest(logits);
  return {labels[label], softmax(logits)[label]};
}

float seconds(std::size_t samples) { return static_cast<float>(samples) / static_cast<float>(sample_rate); }

std::string time_of(std::size_t samples, int width = 0) {
  return format("%*.2f s", width, static_cast<double>(seconds(samples)));
}

ClassAttention attention_of(const Window& window, Spotter& spotter) {
  ClassAttention attention;
  spotter.logits_of_features(spotter.features(window.samples), attention);
  return attention;
}

// Returns a text such as "yes 90.9%". If the label has fewer than `columns` characters, spaces follow the label.
std::string with_percent(std::string_view label, float probability, int columns = 0) {
  return format("%-*s %s", columns, label.data(), examples::percent(probability).c_str());
}

// Returns the answer for a short recording, or the words of a long recording.
std::string words_of(const Findings& findings) {
  const Answer answer = answer_of(findings.window.logits);
  if (!findings.is_long) return std::string(": ").append(with_percent(answer.label, answer.probability));
  if (findings.words.empty()) return ": no words";
  std::string text;
  for (const DetectedWord& word : findings.words)
    text.append("\n")
        .append(time_of(word.start, 6))
        .append("  ")
        .append(with_percent(labels[word.label], word.probability, 6));
  return text;
}

std::string heading(const Findings& findings) {
  std::string text = "What the class token attends to";
  if (findings.is_long)
    text.append(" in the second from ")
        .append(time_of(findings.window.start))
        .append(", ")
        .append(answer_of(findings.window.logits).label);
  return text + ":";
}

}  // namespace

void report_text(const std::string& file, const Findings& findings, Spotter& spotter, std::ostream& out) {
  out << printable(file) << words_of(findings) << "\n\n"
      << heading(findings) << '\n'
      << terminal_picture(attention_of(findings.window, spotter), examples::colour_of_output()) << '\n';
}

void report_json(const std::string& file, const Findings& findings, std::ostream& out) {
  const Answer answer = answer_of(findings.window.logits);
  Json line{{"file", file}, {"label", answer.label}, {"probability", answer.probability}};
  line["logits"] = findings.window.logits;
  if (findings.is_long) {
    line["start"] = seconds(findings.window.start);
    line["words"] = Json::array();
    for (const DetectedWord& word : findings.words)
      line["words"].push_back(
          {{"start", seconds(word.start)}, {"label", labels[word.label]}, {"probability", word.probability}});
  }
  // JSON cannot contain bytes that are not UTF-8, so U+FFFD replaces them.
  out << line.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
}

std::string svg_report(const std::string& file, const Findings& findings, Spotter& spotter) {
  FeatureArray features;
  std::vector<float> log_bands(frame_count * mel_bands);
  FrontEnd().compute(findings.window.samples.data(), frame_count, features.data(), log_bands.data());
  const Answer answer = answer_of(findings.window.logits);
  std::string title = printable(std::filesystem::path(file).filename().string());
  if (findings.is_long) title.append(" from ").append(time_of(findings.window.start));
  title.append(": ").append(with_percent(answer.label, answer.probability));
  return svg_picture(title, log_bands, attention_of(findings.window, spotter));
}

}  // namespace keywords
