// Fuzzes the checks of the arguments of the C kernel fuzz_cross. For any pointers and lengths, the status must be
// LADON_OK if and only if fuzz_cross.h allows the call. A rejected call must write nothing.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <vector>

#include <fuzzer/FuzzedDataProvider.h>

#include "fuzz_cross.h"
#include "support/require.hpp"

namespace {

using ladon_fuzz::require;

constexpr std::size_t queries_most = FUZZ_CROSS_QUERIES, keys_most = FUZZ_CROSS_KEYS, model = FUZZ_CROSS_MODEL;
constexpr std::size_t map_floats = FUZZ_CROSS_HEADS * queries_most * keys_most;

// The number of elements of each tensor, in the order of fuzz_cross_weights: the weight and the bias of query, key,
// value and output.
constexpr std::size_t weight_floats[] = {model * model, model, model* model, model,
                                         model* model,  model, model* model, model};
constexpr std::size_t weight_count = std::size(weight_floats);
static_assert(sizeof(fuzz_cross_weights) == weight_count * sizeof(const float*));

struct Piece {
  unsigned char* begin = nullptr;
  std::size_t bytes = 0;
  bool is_written = false;
  bool may_be_y = false;  // true for the piece of x if x == y: a call may write its result over its input
};

// Holds all arrays of a call, with gaps of 64 bytes between the arrays.
class Arena {
 public:
  Arena() { std::memset(bytes_, 0x3c, sizeof(bytes_)); }  // 0x3c3c3c3c is the float 0.0115: small inputs and weights

  // Returns a place in the arena (`bytes_`) for an array of `bytes` bytes, normally behind the previous arrays. The
  // fuzzer's input can choose a null pointer or any other place instead.
  unsigned char* place(FuzzedDataProvider& data, std::size_t bytes, std::size_t alignment) {
    used_ = (used_ + alignment - 1) / alignment * alignment;
    const std::size_t usual = used_;
    used_ += bytes + gap;
    require(used_ <= sizeof(bytes_), "the arena has room");
    switch (data.ConsumeIntegralInRange<int>(0, 31)) {
      case 31:
        return nullptr;
      case 30:
        return bytes_ + data.ConsumeIntegralInRange<std::size_t>(0, (sizeof(bytes_) - bytes) / 4) * 4;
      default:
        return bytes_ + usual;
    }
  }
  [[nodiscard]] std::vector<unsigned char> content() const { return {bytes_, bytes_ + sizeof(bytes_)}; }
  [[nodiscard]] const unsigned char* begin() const { return bytes_; }

 private:
  static constexpr std::size_t gap = 64;
  alignas(64) unsigned char bytes_[128 * 1024];
  std::size_t used_ = 0;
};

struct Call {
  std::array<const float*, weight_count> weights{};
  bool has_weights = true;
  const float* x = nullptr;
  const float* context = nullptr;
  float* y = nullptr;
  void* workspace = nullptr;
  fuzz_cross_options options{};
  std::size_t phase = 0, share = 0, shares = 0;  // shares = 0: run_with, which computes all phases

  [[nodiscard]] std::size_t workspace_bytes() const {
    return shares == 0 ? FUZZ_CROSS_WORKSPACE_BYTES : FUZZ_CROSS_TEAM_WORKSPACE_BYTES(shares);
  }
};

std::size_t length_of(std::size_t chosen, std::size_t most) {
  if (chosen == 0) return most;
  return chosen == LADON_NONE ? 0 : chosen;
}

std::size_t any_length(FuzzedDataProvider& data, std::size_t most) {
  const std::size_t lengths[] = {LADON_NONE, most + 1, SIZE_MAX / 2, SIZE_MAX};
  const auto choice = data.ConsumeIntegralInRange<std::size_t>(0, most + std::size(lengths));
  return choice <= most ? choice : lengths[choice - most - 1];
}

Call call_of(FuzzedDataProvider& data, Arena& arena) {
  Call call;
  const auto floats = [&](std::size_t count) {
    return reinterpret_cast<float*>(arena.place(data, count * sizeof(float), alignof(float)));
  };
  if (data.ConsumeBool()) {
    call.shares = data.ConsumeIntegralInRange<std::size_t>(0, 2);
    call.share = data.ConsumeIntegralInRange<std::size_t>(0, 2);
    call.phase = data.ConsumeIntegralInRange<std::size_t>(0, FUZZ_CROSS_PHASES);
  }
  call.workspace = arena.place(data, call.workspace_bytes(), 64);
  call.x = floats(queries_most * model);
  call.context = floats(keys_most * model);
  call.y = data.ConsumeIntegralInRange<int>(0, 3) == 3 ? const_cast<float*>(call.x) : floats(queries_most * model);
  for (std::size_t i = 0; i < weight_count; ++i) call.weights[i] = floats(weight_floats[i]);
  call.has_weights = data.ConsumeIntegralInRange<int>(0, 31) != 31;
  call.options.queries = any_length(data, queries_most);
  call.options.keys = any_length(data, keys_most);
  call.options.offset = data.ConsumeIntegral<std::ptrdiff_t>();
  call.options.sinks = floats(FUZZ_CROSS_HEADS);
  if (data.ConsumeBool()) call.options.padding = arena.place(data, keys_most, 1);
  if (data.ConsumeBool()) call.options.attention = floats(map_floats);
  const int isa = data.ConsumeIntegralInRange<int>(0, 5);
  std::memcpy(&call.options.isa, &isa, sizeof(isa));  // a C program may pass any number
  return call;
}

ladon_status run(const Call& call) {
  fuzz_cross_weights weights;
  std::memcpy(&weights, call.weights.data(), sizeof(weights));
  const fuzz_cross_weights* const given = call.has_weights ? &weights : nullptr;
  if (call.shares == 0) return fuzz_cross_run_with(call.x, call.context, given, call.y, call.workspace, &call.options);
  return fuzz_cross_run_phase(call.phase, call.share, call.shares, call.x, call.context, given, call.y, call.workspace,
                              &call.options);
}

// Returns the workspace and the arrays that a call uses. The memory that the call writes comes first.
std::vector<Piece> pieces_of(const Call& call, std::size_t queries, std::size_t keys) {
  const auto piece = [](const void* begin, std::size_t bytes, bool is_written) {
    return Piece{static_cast<unsigned char*>(const_cast<void*>(begin)), bytes, is_written};
  };
  std::vector<Piece> pieces{piece(call.y, queries * model * sizeof(float), true),
                            piece(call.workspace, call.workspace_bytes(), true)};
  if (call.options.attention != nullptr)
    pieces.push_back(piece(call.options.attention, map_floats * sizeof(float), true));
  pieces.push_back(piece(call.x, queries * model * sizeof(float), false));
  pieces.back().may_be_y = call.x == call.y;
  pieces.push_back(piece(call.context, keys * model * sizeof(float), false));
  pieces.push_back(piece(call.options.sinks, FUZZ_CROSS_HEADS * sizeof(float), false));
  if (call.options.padding != nullptr) pieces.push_back(piece(call.options.padding, keys_most, false));
  for (std::size_t i = 0; i < weight_count; ++i)
    pieces.push_back(piece(call.weights[i], weight_floats[i] * sizeof(float), false));
  return pieces;
}

bool overlap(const Piece& a, const Piece& b) { return a.begin < b.begin + b.bytes && b.begin < a.begin + a.bytes; }

// Returns whether fuzz_cross.h allows the call.
bool is_allowed(const Call& call) {
  if (call.x == nullptr || call.context == nullptr || call.y == nullptr || call.workspace == nullptr) return false;
  if (!call.has_weights || call.options.sinks == nullptr) return false;
  if (std::ranges::find(call.weights, nullptr) != call.weights.end()) return false;
  if (reinterpret_cast<std::uintptr_t>(call.workspace) % FUZZ_CROSS_WORKSPACE_ALIGN != 0) return false;
  const std::size_t queries = length_of(call.options.queries, queries_most);
  const std::size_t keys = length_of(call.options.keys, keys_most);
  if (queries > queries_most || keys > keys_most) return false;
  if (call.shares != 0 && (call.phase >= FUZZ_CROSS_PHASES || call.share >= call.shares)) return false;
  const auto pieces = pieces_of(call, queries, keys);
  for (std::size_t i = 0; i < pieces.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const bool y_is_x = j == 0 && pieces[i].may_be_y;
      if ((pieces[i].is_written || pieces[j].is_written) && !y_is_x && overlap(pieces[i], pieces[j])) return false;
    }
  return true;
}

// Checks that the call has changed only memory that a call may write: y, the workspace and the attention weights.
void check_written(const Call& call, const Arena& arena, const std::vector<unsigned char>& before) {
  auto after = arena.content();
  for (const Piece& piece :
       pieces_of(call, length_of(call.options.queries, queries_most), length_of(call.options.keys, keys_most))) {
    if (!piece.is_written) continue;
    const auto first = piece.begin - arena.begin();
    std::copy_n(before.begin() + first, piece.bytes, after.begin() + first);
  }
  require(after == before, "a call writes y, the workspace and the attention weights only");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  FuzzedDataProvider data(bytes, size);
  const auto arena = std::make_unique<Arena>();
  const Call call = call_of(data, *arena);
  const auto before = arena->content();
  const ladon_status status = run(call);
  require(status >= LADON_OK && status <= LADON_BAD_NUMBER, "a status is one of ladon_status");
  if (status == LADON_OK) {
    require(is_allowed(call), "a call that breaks a rule is refused");
    check_written(call, *arena, before);
  } else {
    require(status == LADON_UNSUPPORTED_ISA || !is_allowed(call), "a call that breaks no rule is computed");
    require(arena->content() == before, "a call that is refused writes nothing");
  }
  return 0;
}
