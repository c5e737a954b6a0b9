#include <algorithm>
#include <numeric>
#include <ostream>
#include <tuple>
#include <utility>

#include "model_error.hpp"
#include "reports.hpp"
#include "terminal.hpp"
#include "word_attention.hpp"

namespace minilm {
namespace {

// The attention of one word to each word of the text, in one head.
struct HeadWeights {
  std::size_t layer = 0;
  std::size_t head = 0;
  std::vector<float> words;
};

// Prints the attention of one word to the words of the text. heading() prints the lines at the top. Each of the other
// public functions prints one view: one head, a list of heads, a grid of all heads, the heads with the largest weights,
// or the mean of the heads.
class View {
 public:
  View(std::ostream& out, std::vector<Word> words, std::size_t from, std::vector<HeadWeights> heads)
      : out_(out), words_(std::move(words)), from_(from), heads_(std::move(heads)) {}

  void heading(bool special, bool cut) const;
  void bars() const;
  void list() const;
  void grid() const;
  void sharpest() const;
  void mean() const;

 private:
  [[nodiscard]] std::string words_by_weight(const std::vector<float>& weights, std::size_t most, float least) const;
  [[nodiscard]] std::string cell(const HeadWeights& head, std::size_t width) const;
  [[nodiscard]] std::vector<float> mean_weights() const;

  std::ostream& out_;
  std::vector<Word> words_;
  std::size_t from_;  // index of the word whose attention is printed
  std::vector<HeadWeights> heads_;
};

std::string name_of(const HeadWeights& head) {
  return "layer " + std::to_string(head.layer) + " head " + fitted(std::to_string(head.head), 2);
}

void View::heading(bool special, bool cut) const {
  out_ << "What '" << words_[from_].label << "' looks at in:";
  for (const Word& word : words_) out_ << ' ' << word.text;
  out_ << '\n';
  if (cut) out_ << "The text is longer than the model's " << max_tokens << " tokens: the rest is cut.\n";
  if (special) return;
  const auto weights = mean_weights();
  const float rest = 1 - std::accumulate(weights.begin(), weights.end(), 0.0f);
  out_ << "Not shown are the marks around the text, [CLS] and [SEP] (--special): they get " << fixed(rest, 3)
       << (heads_.size() == 1 ? ".\n" : " on average.\n");
}

// Prints the weight that one head gives to each word, in the order of the text.
void View::bars() const {
  constexpr float columns_for_all = 60;
  std::size_t width = 0;
  for (const Word& word : words_) width = std::max(width, columns_of(word.label));
  out_ << '\n' << "layer " << heads_.front().layer << " head " << heads_.front().head << '\n';
  for (std::size_t i = 0; i < words_.size(); ++i) {
    const float weight = heads_.front().words[i];
    const std::string bar(static_cast<std::size_t>(weight * columns_for_all + 0.5f), '#');
    out_ << "  " << fitted(words_[i].label, width) << "  " << fixed(weight, 3) << (bar.empty() ? "" : "  ") << bar
         << '\n';
  }
}

// Prints a line for each selected head, with the words that have the largest weights.
void View::list() const {
  constexpr std::size_t most = 6;
  constexpr float least = 0.03f;
  out_ << '\n';
  for (const HeadWeights& head : heads_)
    out_ << name_of(head) << "  " << words_by_weight(head.words, most, least) << '\n';
}

// Prints a grid with one word for each head. A row is a head number, and a column is a layer. Lines have at most 80
// characters.
void View::grid() const {
  constexpr std::size_t width = 12;
  out_ << "\nEach head's favourite word and its weight (rows: heads)\n  ";
  for (std::size_t layer = 0; layer < layer_count; ++layer)
    out_ << ' '
         << (layer + 1 < layer_count ? fitted("layer " + std::to_string(layer), width)
                                     : "layer " + std::to_string(layer));
  out_ << '\n';
  for (std::size_t head = 0; head < head_count; ++head) {
    out_ << (head < 10 ? " " : "") << head;
    for (std::size_t layer = 0; layer < layer_count; ++layer)
      out_ << ' ' << cell(heads_[layer * head_count + head], width);
    out_ << '\n';
  }
}

std::string View::cell(const HeadWeights& head, std::size_t width) const {
  const auto top = std::ranges::max_element(head.words);
  const std::string weight = ' ' + fixed(*top, 2);
  const Word& word = words_[static_cast<std::size_t>(top - head.words.begin())];
  return fitted(word.label, width - weight.size()) + weight;
}

void View::sharpest() const {
  constexpr std::size_t shown = 10, most = 5;
  constexpr float least = 0.05f;
  const auto largest_elsewhere = [&](const HeadWeights& head) {
    float largest = 0;
    for (std::size_t i = 0; i < words_.size(); ++i)
      if (i != from_) largest = std::max(largest, head.words[i]);
    return largest;
  };
  std::vector<HeadWeights> ranked = heads_;
  std::ranges::sort(
      ranked, {}, [&](const HeadWeights& head) { return std::tuple(-largest_elsewhere(head), head.layer, head.head); });
  ranked.resize(std::min(ranked.size(), shown));
  out_ << "\nThe heads with the most weight on one other word (words below " << fixed(least, 2) << " left out)\n";
  for (const HeadWeights& head : ranked)
    out_ << name_of(head) << "  " << words_by_weight(head.words, most, least) << '\n';
}

void View::mean() const {
  out_ << "\nMean of these " << heads_.size() << " heads\n" << words_by_weight(mean_weights(), 12, 0) << '\n';
  out_ << "\nThis is one sentence: what a head does here need not be what it does elsewhere.\n";
}

std::vector<float> View::mean_weights() const {
  std::vector<float> mean(words_.size());
  for (const HeadWeights& head : heads_)
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += head.words[i] / static_cast<float>(heads_.size());
  return mean;
}

std::string View::words_by_weight(const std::vector<float>& weights, std::size_t most, float least) const {
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(-weights[i], i); });
  order.resize(std::min(order.size(), most));
  std::string text;
  for (const std::size_t i : order) {
    if (weights[i] < least && !text.empty()) break;
    text += (text.empty() ? "" : "  ") + words_[i].label + ' ' + fixed(weights[i], 3);
  }
  return text;
}

// Returns the index of the word `wanted`. `wanted` is either a label in `words`, or a word as a person writes it.
// Without `wanted`, returns the index of "it", or of the last word if the text has no "it".
std::size_t find_word(const std::vector<Word>& words, const std::optional<std::string>& wanted,
                      const WordPiece& tokenizer) {
  const std::string name = wanted.value_or("it");
  auto found = std::ranges::find(words, name, &Word::label);
  if (found == words.end()) {
    const auto spelled = words_of(tokenizer.encode(name, max_tokens), tokenizer, false);
    if (spelled.size() == 1) found = std::ranges::find(words, spelled.front().text, &Word::text);
  }
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  if (!wanted) return words.size() - 1;
  std::string choice;
  for (const Word& word : words) choice += ' ' + word.label;
  throw ModelError("the word '" + printable(name) + "' is not in the text; its words are:" + choice);
}

// Returns the selected heads, each with the attention of `from` to the words.
std::vector<HeadWeights> chosen_heads(const Attention& attention, const AttentionQuestion& question, const Word& from,
                                      std::span<const Word> words) {
  std::vector<HeadWeights> heads;
  for (std::size_t layer = 0; layer < layer_count; ++layer) {
    for (std::size_t head = 0; head < head_count; ++head) {
      if (question.layer.value_or(layer) == layer && question.head.value_or(head) == head)
        heads.push_back({layer, head, word_weights(attention, layer, head, from, words)});
    }
  }
  return heads;
}

}  // namespace

void report_attention(Model& model, const AttentionQuestion& question, std::ostream& out) {
  const auto [ids, cut] = tokens_of(model, question.text);
  const auto text_words = words_of(ids, model.tokenizer, false);
  if (text_words.empty()) throw ModelError("there is no word in the text");
  const Word from = text_words[find_word(text_words, question.word, model.tokenizer)];
  const auto words = words_of(ids, model.tokenizer, question.special);
  const auto position = std::ranges::find(words, from.first, &Word::first) - words.begin();

  Attention attention;
  static_cast<void>(model.encoder.embed(ids, attention));
  auto heads = chosen_heads(attention, question, from, words);
  const bool one = heads.size() == 1, all = heads.size() == layer_count * head_count;
  const View view(out, words, static_cast<std::size_t>(position), std::move(heads));
  view.heading(question.special, cut);
  if (one) return view.bars();
  if (all) {
    view.grid();
    view.sharpest();
  } else {
    view.list();
  }
  view.mean();
}

}  // namespace minilm
