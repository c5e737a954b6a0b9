#include "tokenizer.hpp"

#include <algorithm>
#include <cstring>
#include <queue>

#include "error.hpp"
#include "printable.hpp"

namespace stories {
namespace {

constexpr std::size_t byte_count = 256;

constexpr auto all_bytes = [] {
  std::array<char, byte_count> bytes{};
  for (std::size_t i = 0; i < byte_count; ++i) bytes[i] = static_cast<char>(i);
  return bytes;
}();

// Returns the name of a byte token in the vocabulary, such as "<0x0A>".
std::string byte_piece(std::size_t byte) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  return {'<', '0', 'x', digits[byte / 16], digits[byte % 16], '>'};
}

// Returns a text for messages: in quotes, escaped, and truncated.
std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 100;
  return '"' + escaped(text.substr(0, longest)) + (text.size() > longest ? "\"..." : "\"");
}

// Reads a tokenizer file from front to back.
class Reader {
 public:
  Reader(std::span<const std::byte> bytes, const std::filesystem::path& file) : rest_(bytes), file_(file) {}

  template <class Number>
  Number number(const std::string& what) {
    Number value;
    std::memcpy(&value, take(sizeof value, what).data(), sizeof value);
    return value;
  }

  std::span<const std::byte> take(std::size_t count, const std::string& what) {
    if (rest_.size() < count) refuse(what + " (" + std::to_string(count) + " bytes)", left());
    const auto taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }

  void end(const std::string& what) const {
    if (!rest_.empty()) refuse("the end of the file after " + what, left());
  }

  [[noreturn]] void refuse(const std::string& expected, const std::string& found) const {
    throw examples::Error(file_.string() + ": expected " + expected + ", found " + found);
  }

 private:
  [[nodiscard]] std::string left() const {
    return rest_.empty() ? "its end" : std::to_string(rest_.size()) + " more bytes";
  }

  std::span<const std::byte> rest_;
  const std::filesystem::path& file_;
};

// Holds the tokens of a text, and can join two neighbours into one token. The tokens are a linked list in the array
// links_. The place of a token is its index in the array. The places ascend from the start of the text to the end.
class Chain {
 public:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  explicit Chain(const std::vector<TokenId>& tokens) : links_(tokens.size()) {
    for (std::size_t i = 0; i < tokens.size(); ++i)
      links_[i] = {tokens[i], i == 0 ? none : i - 1, i + 1 == tokens.size() ? none : i + 1, true};
  }

  [[nodiscard]] bool has(std::size_t place, TokenId token) const {
    return links_[place].there && links_[place].token == token;
  }
  [[nodiscard]] TokenId token(std::size_t place) const { return links_[place].token; }
  [[nodiscard]] std::size_t before(std::size_t place) const { return links_[place].before; }
  [[nodiscard]] std::size_t after(std::size_t place) const { return links_[place].after; }

  // Replaces the token at `place` and the token after it by `token`.
  void join(std::size_t place, TokenId token) {
    Link& left = links_[place];
    Link& right = links_[left.after];
    left.token = token;
    left.after = right.after;
    right.there = false;
    if (left.after != none) links_[left.after].before = place;
  }

  [[nodiscard]] std::vector<TokenId> tokens() const {
    std::vector<TokenId> left;
    for (const Link& link : links_)
      if (link.there) left.push_back(link.token);
    return left;
  }

 private:
  struct Link {
    TokenId token;
    std::size_t before;
    std::size_t after;
    bool there;
  };
  std::vector<Link> links_;
};

// Two neighbours in a Chain that can be joined into one token. `left` and `right` are the tokens that the pair had when
// it was found. Since then, either token may have been joined with its other neighbour.
struct Pair {
  float score;
  std::size_t place;
  TokenId left;
  TokenId right;
  TokenId joined;
};

struct Later {
  bool operator()(const Pair& a, const Pair& b) const noexcept {
    return a.score != b.score ? a.score < b.score : a.place > b.place;
  }
};

bool continues_code_point(char byte) { return (static_cast<unsigned char>(byte) & 0xC0u) == 0x80u; }

}  // namespace

Tokenizer::Tokenizer(const std::filesystem::path& file) : file_(file, files::Load::copy) {
  Reader reader(file_.bytes(), file);
  const auto longest = reader.number<std::int32_t>("the length of the longest token");
  for (TokenId id = 0; id < vocabulary_size; ++id) {
    const std::string name = "token " + std::to_string(id) + " of " + std::to_string(vocabulary_size);
    const auto score = reader.number<float>("the score of " + name);
    const auto length = reader.number<std::int32_t>("the length of " + name);
    if (length < 1 || length > longest)
      reader.refuse("for " + name + " a length from 1 to " + std::to_string(longest), std::to_string(length));
    const auto piece = reader.take(static_cast<std::size_t>(length), name);
    tokens_[id] = {{reinterpret_cast<const char*>(piece.data()), piece.size()}, score};
    ids_.emplace(tokens_[id].piece, id);
  }
  reader.end(std::to_string(vocabulary_size) + " tokens");
  for (std::size_t byte = 0; byte < byte_count; ++byte) {
    const auto id = static_cast<TokenId>(first_byte_token + byte);
    if (piece(id) != byte_piece(byte))
      reader.refuse(in_quotes(byte_piece(byte)) + " as token " + std::to_string(id), in_quotes(piece(id)));
  }
  if (find(" ") == nullptr) reader.refuse("a token \" \"", "none");
  space_ = *find(" ");
}

std::vector<TokenId> Tokenizer::encode(std::string_view text) const {
  std::vector<TokenId> tokens = code_points(text);
  merge(tokens);
  tokens.insert(tokens.begin(), begin_token);
  return tokens;
}

std::vector<TokenId> Tokenizer::code_points(std::string_view text) const {
  constexpr std::size_t longest_code_point = 4;
  std::vector<TokenId> tokens;
  if (!text.empty()) tokens.push_back(space_);
  while (!text.empty()) {
    std::size_t length = 1;
    while (length < std::min(text.size(), longest_code_point) && continues_code_point(text[length])) ++length;
    const auto code_point = text.substr(0, length);
    if (const TokenId* id = find(code_point)) {
      tokens.push_back(*id);
    } else {
      for (const char byte : code_point) tokens.push_back(first_byte_token + static_cast<unsigned char>(byte));
    }
    text.remove_prefix(length);
  }
  return tokens;
}

// Finds each pair once, when its two tokens become neighbours, and puts the pair into a queue. While the pair waits in
// the queue, one of its tokens may be joined with its other neighbour, so that the pair no longer exists. Chain::has
// therefore checks that both tokens are still in their places.
void Tokenizer::merge(std::vector<TokenId>& tokens) const {
  Chain chain(tokens);
  std::priority_queue<Pair, std::vector<Pair>, Later> pairs;
  std::string joined;
  const auto note = [&](std::size_t place) {
    if (place == Chain::none || chain.after(place) == Chain::none) return;
    const TokenId left = chain.token(place), right = chain.token(chain.after(place));
    joined.assign(piece(left)).append(piece(right));
    const TokenId* id = find(joined);
    constexpr float lowest_score = -1e10f;  // as in llama2.c: a pair with a lower or equal score is never joined
    if (id != nullptr && tokens_[*id].score > lowest_score) pairs.push({tokens_[*id].score, place, left, right, *id});
  };
  for (std::size_t place = 0; place < tokens.size(); ++place) note(place);
  while (!pairs.empty()) {
    const Pair pair = pairs.top();
    pairs.pop();
    if (!chain.has(pair.place, pair.left)) continue;
    if (chain.after(pair.place) == Chain::none || !chain.has(chain.after(pair.place), pair.right)) continue;
    chain.join(pair.place, pair.joined);
    note(chain.before(pair.place));
    note(pair.place);
  }
  tokens = chain.tokens();
}

std::string_view Tokenizer::decode(TokenId previous, TokenId token) const {
  std::string_view text = piece(token);
  if (previous == begin_token && text.starts_with(' ')) text.remove_prefix(1);  // the space that encode() added
  const std::size_t byte = token - first_byte_token;
  if (token >= first_byte_token && byte < byte_count) text = {&all_bytes[byte], 1};
  return text;
}

const TokenId* Tokenizer::find(std::string_view piece) const {
  const auto found = ids_.find(piece);
  return found == ids_.end() ? nullptr : &found->second;
}

}  // namespace stories
