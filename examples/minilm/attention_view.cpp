#include <algorithm>
#include <numeric>
#include <ostream>
#include <tuple>
#include <utility>

#include "model_files.hpp"
#include "reports.hpp"
#include "terminal.hpp"
#include "word_attention.hpp"

namespace minilm {
namespace {

// The attention of one word to each word of the text, in one head.
struct HeadWeights {
  std::size_t layer, head;
  std::vector<float> words;

  [[nodiscard]] std::string name() const {
    return "layer " + std::to_string(layer) + " head " + fitted(std::to_string(head), 2) + "  ";
  }
};
using Words = std::vector<Word>;
using Heads = std::vector<HeadWeights>;

// Returns the words with the largest weights, and those weights.
std::string words_by_weight(const Words& words, const std::vector<float>& weights, std::size_t most, float least) {
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(-weights[i], i); });
  order.resize(std::min(order.size(), most));
  std::string text;
  for (const std::size_t i : order) {
    if (weights[i] < least && !text.empty()) break;
    text += (text.empty() ? "" : "  ") + words[i].label + ' ' + fixed(weights[i], 3);
  }
  return text;
}

std::vector<float> mean_of(const Heads& heads) {
  std::vector<float> mean(heads.front().words.size());
  for (const HeadWeights& head : heads)
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += head.words[i] / static_cast<float>(heads.size());
  return mean;
}

// Prints the weight that one head gives to each word, in the order of the text.
void print_bars(std::ostream& out, const Words& words, const HeadWeights& head) {
  constexpr float columns_for_all = 60;
  std::size_t width = 0;
  for (const Word& word : words) width = std::max(width, columns_of(word.label));
  out << "\nlayer " << head.layer << " head " << head.head << '\n';
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string bar(static_cast<std::size_t>(head.words[i] * columns_for_all + 0.5f), '#');
    out << "  " << fitted(words[i].label, width) << "  " << fixed(head.words[i], 3) << (bar.empty() ? "" : "  ") << bar
        << '\n';
  }
}

// Prints one word for each head. A row is a head number, and a column is a layer. Lines have at most 80 characters.
void print_grid(std::ostream& out, const Words& words, const Heads& heads) {
  constexpr std::size_t width = 12;
  out << "\nEach head's favourite word and its weight (rows: heads)\n  ";
  for (std::size_t layer = 0; layer < layer_count; ++layer) {
    const std::string title = "layer " + std::to_string(layer);
    out << ' ' << (layer + 1 < layer_count ? fitted(title, width) : title);
  }
  for (std::size_t head = 0; head < head_count; ++head) {
    out << '\n' << (head < 10 ? " " : "") << head;
    for (std::size_t layer = 0; layer < layer_count; ++layer) {
      const std::vector<float>& weights = heads[layer * head_count + head].words;
      const auto top = std::ranges::max_element(weights);
      const std::string weight = ' ' + fixed(*top, 2);
      out << ' ' << fitted(words[static_cast<std::size_t>(top - weights.begin())].label, width - weight.size())
          << weight;
    }
  }
  out << '\n';
}

// Prints the heads with the largest weights of a word other than number `from`.
void print_sharpest(std::ostream& out, const Words& words, std::size_t from, Heads heads) {
  const auto order = [&](const HeadWeights& head) {
    float largest = 0;
    for (std::size_t i = 0; i < words.size(); ++i)
      if (i != from) largest = std::max(largest, head.words[i]);
    return std::tuple(-largest, head.layer, head.head);
  };
  std::ranges::sort(heads, {}, order);
  heads.resize(std::min<std::size_t>(heads.size(), 10));
  out << "\nThe heads with the most weight on one other word (words below 0.05 left out)\n";
  for (const HeadWeights& head : heads) out << head.name() << words_by_weight(words, head.words, 5, 0.05f) << '\n';
}

// Returns the index of the word `wanted`. `wanted` is either a label in `words`, or a word as a person writes it.
// Without `wanted`, returns the index of "it", or of the last word if the text has no "it".
std::size_t find_word(const Words& words, const std::optional<std::string>& wanted, const Model& model) {
  const std::string name = wanted.value_or("it");
  auto found = std::ranges::find(words, name, &Word::label);
  if (found == words.end()) {
    const auto spelled = words_of(tokens_of(model, name).ids, model.tokenizer, false);
    if (spelled.size() == 1) found = std::ranges::find(words, spelled.front().text, &Word::text);
  }
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  if (!wanted) return words.size() - 1;
  std::string choice;
  for (const Word& word : words) choice += ' ' + word.label;
  throw ModelError("the word '" + printable(name) + "' is not in the text; its words are:" + choice);
}

// Returns the selected heads, each with the attention of `from` to the words.
Heads chosen_heads(const Attention& attention, const AttentionQuestion& question, const Word& from,
                   const Words& words) {
  Heads heads;
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
  const Words text_words = words_of(ids, model.tokenizer, false);
  if (text_words.empty()) throw ModelError("there is no word in the text");
  const Word from = text_words[find_word(text_words, question.word, model)];
  const Words words = words_of(ids, model.tokenizer, question.special);
  const auto position = std::ranges::find(words, from.first, &Word::first) - words.begin();
  Attention attention;
  static_cast<void>(model.encoder.embed(ids, attention));
  const Heads heads = chosen_heads(attention, question, from, words);
  const std::vector<float> mean = mean_of(heads);

  out << "What '" << from.label << "' looks at in:";
  for (const Word& word : words) out << ' ' << word.text;
  out << '\n';
  if (cut) out << "The text is longer than the model's " << max_tokens << " tokens: the rest is cut.\n";
  if (!question.special)
    out << "Not shown are the marks around the text, [CLS] and [SEP] (--special): they get "
        << fixed(1 - std::accumulate(mean.begin(), mean.end(), 0.0f), 3)
        << (heads.size() == 1 ? ".\n" : " on average.\n");
  if (heads.size() == 1) return print_bars(out, words, heads.front());
  if (heads.size() == layer_count * head_count) {
    print_grid(out, words, heads);
    print_sharpest(out, words, static_cast<std::size_t>(position), heads);
  } else {
    out << '\n';
    for (const HeadWeights& head : heads) out << head.name() << words_by_weight(words, head.words, 6, 0.03f) << '\n';
  }
  out << "\nMean of these " << heads.size() << " heads\n"
      << words_by_weight(words, mean, 12, 0) << '\n'
      << "\nThis is one sentence: what a head does here need not be what it does elsewhere.\n";
}

}  // namespace minilm
