// Tests that a C function that returns an error has changed no byte: no cache, no weights, no results, and no other
// memory. All memory of a test lies in one arena, which is compared before and after each call. test_c_status.cpp has
// the tests of NAME_run_with.
#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "c_decoding.h"
#include "c_given.h"
#include "c_grown.h"
#include "c_int8_layer.h"
#include "c_projected.h"
#include "random.hpp"

namespace ladon_test {

namespace {

class Arena {
 public:
  Arena() { std::memset(bytes_, 0x5a, size); }  // the float with the bytes 0x5a is 1.5e16
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Returns memory for `count` objects, aligned to 64 bytes. Unused bytes lie between two arrays.
  template <class T>
  T* take(std::size_t count) {
    auto* const taken = reinterpret_cast<T*>(bytes_ + used_);
    used_ += (count * sizeof(T) + 127) / 64 * 64;
    REQUIRE(used_ <= size);
    return taken;
  }
  float* numbers(std::size_t count) {
    float* const taken = take<float>(count);
    for (std::size_t i = 0; i < count; ++i) taken[i] = random_.normal(0.2);
    return taken;
  }
  // Returns the struct of weights, whose tensors all point to one array.
  template <class W>
  W* weights(std::size_t largest) {
    W* const taken = take<W>(1);
    const float* const tensor = numbers(largest);
    for (std::size_t i = 0; i < sizeof(W) / sizeof(tensor); ++i) set(*taken, i, tensor);
    return taken;
  }

  // Calls `call` with the wrong value `wrong` in place of `argument`.
  template <class T, class Call>
  void refuses(ladon_status expected, T& argument, std::type_identity_t<T> wrong, const Call& call) {
    const T was = std::exchange(argument, wrong);
    static unsigned char before[size];
    std::memcpy(before, bytes_, size);
    CHECK(call() == expected);
    CHECK(std::memcmp(before, bytes_, size) == 0);
    argument = was;
  }
  // Calls `call` once for each tensor of the weights, with a null pointer in place of the tensor.
  template <class W, class Call>
  void refuses_each_tensor(W& weights, const Call& call) {
    W changed = weights;
    for (std::size_t i = 0; i < sizeof(W) / sizeof(const float*); ++i) {
      changed = weights;
      set(changed, i, nullptr);
      refuses(LADON_NULL_WEIGHTS, weights, changed, call);
    }
  }
  template <class Options, class Call>
  void refuses_unknown_isa(Options& options, const Call& call) {
    if constexpr (requires { options.isa; }) {
      Options changed = options;
      const int none = 77;  // no enumerator has this value, but C programs can store it
      std::memcpy(&changed.isa, &none, sizeof(changed.isa));
      refuses(LADON_UNSUPPORTED_ISA, options, changed, call);
    }
  }

 private:
  template <class W>
  static void set(W& weights, std::size_t tensor, const float* to) {
    std::memcpy(reinterpret_cast<unsigned char*>(&weights) + tensor * sizeof(to), &to, sizeof(to));
  }

  static constexpr std::size_t size = 1 << 17;
  alignas(64) unsigned char bytes_[size];
  std::size_t used_ = 0;
  Random random_{1};
};

unsigned char* behind(void* memory, std::size_t bytes) { return static_cast<unsigned char*>(memory) + bytes; }

// A cache begins with its mark, which tells the kernel that filled the cache.
std::uint32_t& mark(void* cache) { return *static_cast<std::uint32_t*>(cache); }

}  // namespace

TEST_CASE("errors of extend, extend_phase, cache_clear and rotary_fill change nothing") {
  static Arena arena;
  auto* weights = arena.weights<c_grown_weights>(16 * 16);
  auto* table = arena.take<c_grown_rotary_table>(1);
  REQUIRE(c_grown_rotary_fill(table, 10000, 1) == LADON_OK);
  auto& options = *arena.take<c_grown_options>(1);
  options = {.tokens = 3, .rotary = table, .rotary_offset = 0, .attention = arena.take<float>(2 * 4 * 40)};
  const float* x = arena.numbers(4 * 16);
  float* y = arena.take<float>(4 * 16);
  void* cache = arena.take<unsigned char>(C_GROWN_CACHE_BYTES);
  void* workspace = arena.take<unsigned char>(C_GROWN_TEAM_WORKSPACE_BYTES(2));
  std::size_t phase = 0, share = 0;
  const auto extend = [&] { return c_grown_extend(x, cache, weights, y, workspace, &options); };
  const auto extend_phase = [&] {
    return c_grown_extend_phase(phase, share, 2, x, cache, weights, y, workspace, &options);
  };
  const auto check = [&](const auto& call) {
    arena.refuses(LADON_NULL_INPUT, x, nullptr, call);
    arena.refuses(LADON_NULL_OUTPUT, y, nullptr, call);
    arena.refuses(LADON_NULL_WEIGHTS, weights, nullptr, call);
    arena.refuses_each_tensor(*weights, call);
    arena.refuses(LADON_NULL_OPTION, options.rotary, nullptr, call);
    arena.refuses(LADON_LENGTH_BEYOND_SHAPE, options.rotary_offset, 64, call);
    arena.refuses(LADON_LENGTH_BEYOND_SHAPE, options.tokens, 5, call);
    arena.refuses(LADON_OVERLAP, options.attention, y, call);
    arena.refuses(LADON_CACHE_NOT_CLEARED, mark(cache), 7, call);
    arena.refuses(LADON_OVERLAP, x, y + 1, call);
    for (void** memory : {&cache, &workspace}) {
      arena.refuses(LADON_NULL_WORKSPACE, *memory, nullptr, call);
      arena.refuses(LADON_MISALIGNED, *memory, behind(*memory, 4), call);
      arena.refuses(LADON_OVERLAP, y, static_cast<float*>(*memory), call);
      arena.refuses(LADON_OVERLAP, weights->out_proj_weight, static_cast<float*>(*memory), call);
    }
  };
  REQUIRE(c_grown_cache_clear(cache) == LADON_OK);
  REQUIRE(extend() == LADON_OK);
  check(extend);
  check(extend_phase);
  arena.refuses(LADON_NO_SUCH_PHASE, phase, C_GROWN_PHASES, extend_phase);
  arena.refuses(LADON_NO_SUCH_PHASE, share, 2, extend_phase);
  arena.refuses(LADON_PHASE_OUT_OF_ORDER, phase, 1, extend_phase);

  const auto clear = [&] { return c_grown_cache_clear(cache); };
  arena.refuses(LADON_NULL_WORKSPACE, cache, nullptr, clear);
  arena.refuses(LADON_MISALIGNED, cache, behind(cache, 4), clear);
  double base = 10000, scaling = 1;
  const auto fill = [&] { return c_grown_rotary_fill(table, base, scaling); };
  arena.refuses(LADON_NULL_OUTPUT, table, nullptr, fill);
  for (const double wrong : {0.5, -1.0, 1e301, double{INFINITY}, double{NAN}}) {
    arena.refuses(LADON_BAD_NUMBER, base, wrong, fill);
    arena.refuses(LADON_BAD_NUMBER, scaling, wrong == 0.5 ? 0 : wrong, fill);
  }
}

TEST_CASE("errors of project_keys and attend change nothing") {
  static Arena arena;
  auto* weights = arena.weights<c_projected_weights>(16 * 20);
  auto& options = *arena.take<c_projected_options>(1);
  options = {};
  options.keys = 9;
  options.attention = arena.take<float>(2 * 5 * 11);
  const float *keys = arena.numbers(11 * 12), *values = arena.numbers(11 * 20), *x = arena.numbers(5 * 16);
  float* y = arena.take<float>(5 * 16);
  void* cache = arena.take<unsigned char>(C_PROJECTED_CACHE_BYTES);
  void* workspace = arena.take<unsigned char>(C_PROJECTED_WORKSPACE_BYTES);
  const auto project = [&] { return c_projected_project_keys(keys, values, cache, weights, workspace, &options); };
  const auto attend = [&] { return c_projected_attend(x, cache, weights, y, workspace, &options); };
  const auto check = [&](const auto& call) {
    arena.refuses(LADON_NULL_WEIGHTS, weights, nullptr, call);
    arena.refuses_each_tensor(*weights, call);
    arena.refuses(LADON_LENGTH_BEYOND_SHAPE, options.keys, 12, call);
    arena.refuses(LADON_LENGTH_BEYOND_SHAPE, options.queries, 6, call);
    arena.refuses(LADON_CACHE_NOT_CLEARED, mark(cache), 7, call);
    arena.refuses(LADON_OVERLAP, weights->out_proj_weight, static_cast<float*>(workspace), call);
    for (void** memory : {&cache, &workspace}) {
      arena.refuses(LADON_NULL_WORKSPACE, *memory, nullptr, call);
      arena.refuses(LADON_MISALIGNED, *memory, behind(*memory, 4), call);
    }
    arena.refuses(LADON_OVERLAP, workspace, cache, call);
  };
  REQUIRE(c_projected_cache_clear(cache) == LADON_OK);
  REQUIRE(project() == LADON_OK);
  check(project);
  for (const float** input : {&keys, &values}) {
    arena.refuses(LADON_NULL_INPUT, *input, nullptr, project);
    for (void* memory : {cache, workspace}) arena.refuses(LADON_OVERLAP, *input, static_cast<float*>(memory), project);
  }
  REQUIRE(attend() == LADON_OK);
  check(attend);
  arena.refuses(LADON_NULL_INPUT, x, nullptr, attend);
  arena.refuses(LADON_NULL_OUTPUT, y, nullptr, attend);
  arena.refuses(LADON_OVERLAP, x, y + 1, attend);
  arena.refuses(LADON_OVERLAP, options.attention, y, attend);
  arena.refuses(LADON_OVERLAP, y, static_cast<float*>(cache), attend);
  arena.refuses(LADON_LENGTH_BEYOND_SHAPE, options.keys, 10, attend);
}

TEST_CASE("errors of a decoder's project_memory, extend and extend_phase change nothing") {
  static Arena arena;
  auto* weights = arena.weights<c_decoding_weights>(36 * 20);
  auto& options = *arena.take<c_decoding_options>(1);
  options = {};
  const float *x = arena.numbers(4 * 12), *tokens = arena.numbers(21 * 12);
  float* y = arena.take<float>(4 * 12);
  void* cache = arena.take<unsigned char>(C_DECODING_CACHE_BYTES);
  void* memory_cache = arena.take<unsigned char>(C_DECODING_MEMORY_CACHE_BYTES);
  void* workspace = arena.take<unsigned char>(C_DECODING_TEAM_WORKSPACE_BYTES(2) + C_DECODING_WORKSPACE_BYTES);
  std::size_t phase = 0, share = 0;
  const auto project = [&] { return c_decoding_project_memory(tokens, memory_cache, weights, workspace, &options); };
  const auto extend = [&] { return c_decoding_extend(x, cache, memory_cache, weights, y, workspace, &options); };
  const auto extend_phase = [&] {
    return c_decoding_extend_phase(phase, share, 2, x, cache, memory_cache, weights, y, workspace, &options);
  };
  const auto check = [&](const auto& call) {
    arena.refuses(LADON_NULL_WEIGHTS, weights, nullptr, call);
    arena.refuses_each_tensor(*weights, call);
    arena.refuses_unknown_isa(options, call);
    arena.refuses(LADON_LENGTH_BEYOND_SHAPE, options.memory.keys, 22, call);
    for (void** memory : {&memory_cache, &workspace}) {
      arena.refuses(LADON_NULL_WORKSPACE, *memory, nullptr, call);
      arena.refuses(LADON_MISALIGNED, *memory, behind(*memory, 4), call);
    }
    arena.refuses(LADON_OVERLAP, workspace, memory_cache, call);
  };
  REQUIRE(c_decoding_cache_clear(cache) == LADON_OK);
  REQUIRE(project() == LADON_OK);
  check(project);
  arena.refuses(LADON_NULL_INPUT, tokens, nullptr, project);
  arena.refuses(LADON_OVERLAP, tokens, static_cast<float*>(memory_cache), project);
  REQUIRE(extend() == LADON_OK);
  const auto check_extend = [&](const auto& call) {
    check(call);
    arena.refuses(LADON_NULL_INPUT, x, nullptr, call);
    arena.refuses(LADON_NULL_OUTPUT, y, nullptr, call);
    arena.refuses(LADON_LENGTH_BEYOND_SHAPE, options.tokens, 5, call);
    arena.refuses(LADON_CACHE_NOT_CLEARED, mark(cache), 7, call);
    arena.refuses(LADON_CACHE_NOT_CLEARED, memory_cache, cache, call);
    arena.refuses(LADON_OVERLAP, y, static_cast<float*>(memory_cache), call);
    arena.refuses(LADON_OVERLAP, options.attention[1], y, call);
    arena.refuses(LADON_OVERLAP, options.memory.attention[0], static_cast<float*>(cache), call);
  };
  check_extend(extend);
  check_extend(extend_phase);
  arena.refuses(LADON_NO_SUCH_PHASE, phase, C_DECODING_PHASES, extend_phase);
  arena.refuses(LADON_NO_SUCH_PHASE, share, 2, extend_phase);
  arena.refuses(LADON_PHASE_OUT_OF_ORDER, phase, 1, extend_phase);
  REQUIRE(extend() == LADON_OK);
  REQUIRE(extend() == LADON_OK);
  arena.refuses(LADON_CACHE_FULL, options.tokens, 1, extend);
  arena.refuses(LADON_CACHE_FULL, options.tokens, 1, extend_phase);
}

TEST_CASE("errors of quantise change nothing, also if the last weight is not finite") {
  static Arena arena;
  auto* from = arena.weights<c_int8_layer_float_weights>(36 * 12);
  auto* to = arena.take<c_int8_layer_weights>(1);
  void* memory = arena.take<unsigned char>(C_INT8_LAYER_QUANTISED_BYTES);
  const auto quantise = [&] { return c_int8_layer_quantise(from, to, memory); };
  REQUIRE(quantise() == LADON_OK);  // the weights that must stay
  arena.refuses(LADON_NULL_WEIGHTS, from, nullptr, quantise);
  arena.refuses_each_tensor(*from, quantise);
  arena.refuses(LADON_NULL_OUTPUT, to, nullptr, quantise);
  arena.refuses(LADON_NULL_OUTPUT, memory, nullptr, quantise);
  arena.refuses(LADON_MISALIGNED, memory, behind(memory, 4), quantise);
  arena.refuses(LADON_OVERLAP, memory, to, quantise);
  arena.refuses(LADON_OVERLAP, memory, from, quantise);
  arena.refuses(LADON_OVERLAP, from->norm2_bias, static_cast<float*>(memory), quantise);
  float* const last = arena.numbers(12 * 21);
  from->linear2_weight = last;
  for (const float wrong : {INFINITY, -INFINITY, NAN})
    arena.refuses(LADON_NOT_FINITE, last[12 * 21 - 1], wrong, quantise);

  // Runs the kernel with the quantised weights.
  auto& options = *arena.take<c_int8_layer_options>(1);
  options = {};
  const float* x = arena.numbers(17 * 12);
  float* y = arena.take<float>(17 * 12);
  void* workspace = arena.take<unsigned char>(C_INT8_LAYER_TEAM_WORKSPACE_BYTES(2) + C_INT8_LAYER_WORKSPACE_BYTES);
  std::size_t phase = 0, share = 0;
  const auto run = [&] { return c_int8_layer_run_with(x, to, y, workspace, &options); };
  const auto run_phase = [&] { return c_int8_layer_run_phase(phase, share, 2, x, to, y, workspace, &options); };
  REQUIRE(run() == LADON_OK);
  const auto check = [&](const auto& call) {
    arena.refuses_each_tensor(*to, call);
    arena.refuses_unknown_isa(options, call);
    arena.refuses(LADON_LENGTH_BEYOND_SHAPE, options.tokens, 18, call);
    arena.refuses(LADON_OVERLAP, y, static_cast<float*>(memory), call);
  };
  check(run);
  check(run_phase);
  arena.refuses(LADON_NO_SUCH_PHASE, phase, C_INT8_LAYER_PHASES, run_phase);
  arena.refuses(LADON_NO_SUCH_PHASE, share, 2, run_phase);
}

TEST_CASE("errors of attention without projections change nothing") {
  static Arena arena;
  auto& options = *arena.take<c_given_options>(1);
  options = {};
  const float *q = arena.numbers(17 * 60), *k = arena.numbers(33 * 60), *v = arena.numbers(33 * 60);
  float* out = arena.take<float>(17 * 60);
  void* workspace = arena.take<unsigned char>(C_GIVEN_TEAM_WORKSPACE_BYTES(2) + C_GIVEN_WORKSPACE_BYTES);
  std::size_t phase = 0, share = 0;
  const auto run = [&] { return c_given_run_with(q, k, v, out, workspace, &options); };
  const auto run_phase = [&] { return c_given_run_phase(phase, share, 2, q, k, v, out, workspace, &options); };
  REQUIRE(run() == LADON_OK);
  const auto check = [&](const auto& call) {
    for (const float** input : {&q, &k, &v}) {
      arena.refuses(LADON_NULL_INPUT, *input, nullptr, call);
      arena.refuses(LADON_OVERLAP, *input, out + 1, call);
      arena.refuses(LADON_OVERLAP, *input, static_cast<float*>(workspace), call);
    }
    arena.refuses(LADON_NULL_OUTPUT, out, nullptr, call);
    arena.refuses(LADON_NULL_WORKSPACE, workspace, nullptr, call);
    arena.refuses(LADON_MISALIGNED, workspace, behind(workspace, 4), call);
    arena.refuses(LADON_LENGTH_BEYOND_SHAPE, options.queries, 18, call);
    arena.refuses(LADON_LENGTH_BEYOND_SHAPE, options.keys, 34, call);
    arena.refuses(LADON_OVERLAP, options.attention, out, call);
    arena.refuses_unknown_isa(options, call);
  };
  check(run);
  check(run_phase);
  arena.refuses(LADON_NO_SUCH_PHASE, phase, C_GIVEN_PHASES, run_phase);
  arena.refuses(LADON_NO_SUCH_PHASE, share, 2, run_phase);
}

}  // namespace ladon_test
