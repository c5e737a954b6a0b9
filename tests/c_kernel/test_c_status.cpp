// Tests which status a C kernel returns for wrong arguments, and that a call with wrong arguments writes nothing.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "c_masked.h"
#include "c_stack.h"
#include "random.hpp"

namespace ladon_test {

namespace {

constexpr std::size_t tokens = C_MASKED_QUERIES, model = C_MASKED_MODEL, heads = C_MASKED_HEADS;
constexpr std::size_t numbers = tokens * model, map_numbers = heads * tokens * tokens;

// All arrays that a call reads and writes, side by side, with guard bytes between the arrays.
struct Memory {
  static constexpr std::size_t gap = 64;
  alignas(64) unsigned char workspace[C_MASKED_WORKSPACE_BYTES + 64];
  unsigned char gap_0[gap];
  float x[numbers];
  unsigned char gap_1[gap];
  float y[numbers];
  unsigned char gap_2[gap];
  float map[map_numbers];
  unsigned char gap_3[gap];
  float in_weight[3 * model * model], in_bias[3 * model], out_weight[model * model], out_bias[model];
  std::uint8_t padding[tokens];
};

struct Call {
  Memory memory;
  c_masked_weights weights{};
  c_masked_options options{};
  const float* x = memory.x;
  const c_masked_weights* given = &weights;
  float* y = memory.y;
  void* workspace = memory.workspace;

  Call() {
    std::memset(&memory, 0x5a, sizeof(memory));  // the float with the bytes 0x5a is 1.5e16
    Random random(1);
    const auto fill = [&](auto& values) {
      for (float& value : values) value = random.normal(0.2);
    };
    fill(memory.x);
    fill(memory.in_weight);
    fill(memory.in_bias);
    fill(memory.out_weight);
    fill(memory.out_bias);
    weights = {memory.in_weight, memory.in_bias, memory.out_weight, memory.out_bias};
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // Returns the status of the call. Checks that no byte changes if the status is not LADON_OK.
  ladon_status run() {
    static Memory before;
    std::memcpy(&before, &memory, sizeof(before));
    const ladon_status status = c_masked_run_with(x, given, y, workspace, &options);
    if (status != LADON_OK) CHECK(std::memcmp(&before, &memory, sizeof(before)) == 0);
    return status;
  }
};

}  // namespace

TEST_CASE("a correct call") {
  static Call call;
  CHECK(call.run() == LADON_OK);
  for (const auto& gap : {call.memory.gap_0, call.memory.gap_1, call.memory.gap_2, call.memory.gap_3}) {
    CHECK(std::all_of(gap, gap + Memory::gap, [](unsigned char byte) { return byte == 0x5a; }));
  }
  CHECK(call.memory.y[0] < 1e6f);
  CHECK(c_masked_run_with(call.x, call.given, call.y, call.workspace, nullptr) == LADON_OK);
  CHECK(c_masked_run(call.x, call.given, call.y, call.workspace) == LADON_OK);
}

TEST_CASE("null pointers") {
  static Call call;
  call.x = nullptr;
  CHECK(call.run() == LADON_NULL_INPUT);
  call.x = call.memory.x;
  call.given = nullptr;
  CHECK(call.run() == LADON_NULL_WEIGHTS);
  call.given = &call.weights;
  for (const float** tensor : {&call.weights.in_proj_weight, &call.weights.in_proj_bias, &call.weights.out_proj_weight,
                               &call.weights.out_proj_bias}) {
    const float* const was = *tensor;
    *tensor = nullptr;
    CHECK(call.run() == LADON_NULL_WEIGHTS);
    *tensor = was;
  }
  call.y = nullptr;
  CHECK(call.run() == LADON_NULL_OUTPUT);
  call.y = call.memory.y;
  call.workspace = nullptr;
  CHECK(call.run() == LADON_NULL_WORKSPACE);
  call.workspace = call.memory.workspace;
  CHECK(call.run() == LADON_OK);
}

TEST_CASE("a workspace that is not aligned") {
  static Call call;
  for (const std::size_t off : {1u, 4u, 32u}) {
    call.workspace = call.memory.workspace + off;
    CHECK(call.run() == LADON_MISALIGNED);
  }
}

TEST_CASE("lengths beyond the shape") {
  static Call call;
  for (std::size_t c_masked_options::* length :
       {&c_masked_options::tokens, &c_masked_options::queries, &c_masked_options::keys}) {
    for (const std::size_t wrong : {tokens + 1, SIZE_MAX / 2, SIZE_MAX - 1, SIZE_MAX}) {
      call.options = {};
      call.options.*length = wrong;
      CHECK(call.run() == LADON_LENGTH_BEYOND_SHAPE);
    }
    for (const std::size_t right : {tokens, std::size_t(1), LADON_NONE}) {
      call.options.*length = right;
      CHECK(call.run() == LADON_OK);
    }
  }
}

TEST_CASE("outputs that overlap with other arrays") {
  static Call call;
  auto* const scratch = reinterpret_cast<float*>(call.memory.workspace);
  const auto overlaps = [&](float* y) {
    call.y = y;
    const ladon_status status = call.run();
    call.y = call.memory.y;
    return status == LADON_OVERLAP;
  };
  CHECK(overlaps(call.memory.x + 1));
  CHECK(overlaps(call.memory.x + numbers - 1));
  CHECK(overlaps(scratch));
  CHECK(overlaps(call.memory.in_weight));
  CHECK(overlaps(call.memory.in_bias));
  CHECK(overlaps(call.memory.out_weight + 3));
  CHECK(overlaps(call.memory.out_bias - numbers + 1));
  CHECK_FALSE(overlaps(call.memory.x));  // y may be x

  call.options.attention = call.memory.map;
  CHECK(call.run() == LADON_OK);
  CHECK(overlaps(call.memory.map + map_numbers - 1));
  call.options.attention = call.memory.x;
  CHECK(call.run() == LADON_OVERLAP);
  call.options.attention = scratch + 5;
  CHECK(call.run() == LADON_OVERLAP);
  call.options.attention = nullptr;

  std::memset(call.memory.padding, 1, sizeof(call.memory.padding));
  call.options.padding = call.memory.padding;
  CHECK(call.run() == LADON_OK);
  call.options.padding = reinterpret_cast<const std::uint8_t*>(call.memory.y);
  CHECK(call.run() == LADON_OVERLAP);
  call.options.padding = nullptr;
  call.x = scratch;
  CHECK(call.run() == LADON_OVERLAP);
}

// If a call has fewer queries than keys, layer 0 of a stack writes a row of attention weights for each key. The check
// for overlapping arrays must include all these rows, not just a row for each query.
TEST_CASE("the maps of a stack overlap") {
  constexpr std::size_t map = C_STACK_HEADS * C_STACK_QUERIES * C_STACK_KEYS;
  alignas(64) static unsigned char workspace[C_STACK_WORKSPACE_BYTES];
  static float weight[4 * C_STACK_MODEL * C_STACK_FEED_FORWARD], x[C_STACK_QUERIES * C_STACK_MODEL],
      y[C_STACK_QUERIES * C_STACK_MODEL], maps[2 * map];
  std::array<const float*, sizeof(c_stack_weights) / sizeof(const float*)> pointers;
  pointers.fill(weight);
  c_stack_weights weights;
  std::memcpy(&weights, pointers.data(), sizeof(weights));
  const auto run = [&](float* first, float* second) {
    c_stack_options options{};
    options.queries = 2;
    options.keys = 7;
    options.attention[0] = first;
    options.attention[1] = second;
    return c_stack_run_with(x, &weights, y, workspace, &options);
  };
  CHECK(run(maps, maps + map) == LADON_OK);
  CHECK(run(maps + map, maps) == LADON_OK);
  CHECK(run(maps, maps + map - 1) == LADON_OVERLAP);
  CHECK(run(maps, maps + 63) == LADON_OVERLAP);
  CHECK(run(maps, nullptr) == LADON_OK);
  CHECK(run(nullptr, weight) == LADON_OVERLAP);
}

// The workspace of a kernel with DISPATCH has a different size for each instruction set. C_STACK_WORKSPACE_BYTES is the
// largest size. With every instruction set, the kernel must reject a y that overlaps the first C_STACK_WORKSPACE_BYTES
// bytes of the workspace.
TEST_CASE("y overlaps with the end of a workspace") {
  struct Memory {
    alignas(64) unsigned char workspace[C_STACK_WORKSPACE_BYTES];
    float y[C_STACK_QUERIES * C_STACK_MODEL];
  };
  static Memory memory;
  static float weight[4 * C_STACK_MODEL * C_STACK_FEED_FORWARD], x[C_STACK_QUERIES * C_STACK_MODEL];
  std::array<const float*, sizeof(c_stack_weights) / sizeof(const float*)> pointers;
  pointers.fill(weight);
  c_stack_weights weights;
  std::memcpy(&weights, pointers.data(), sizeof(weights));
  const auto check = [&](c_stack_options options) {
    CHECK(c_stack_run_with(x, &weights, memory.y, memory.workspace, &options) == LADON_OK);
    auto* const last = reinterpret_cast<float*>(memory.workspace + C_STACK_WORKSPACE_BYTES - sizeof(float));
    CHECK(c_stack_run_with(x, &weights, last, memory.workspace, &options) == LADON_OVERLAP);
  };
  check({});
  const auto check_each = [&](auto options) {
    if constexpr (requires { options.isa; }) {
      for (const ladon_isa isa :
           {LADON_ISA_SSE2, LADON_ISA_AVX2, LADON_ISA_AVX512, LADON_ISA_AVX512_VNNI, LADON_ISA_AVX_VNNI, LADON_ISA_NEON,
            LADON_ISA_NEON_DOT, LADON_ISA_AVX512_BF16, LADON_ISA_NEON_BF16, LADON_ISA_NEON_I8MM}) {
        options.isa = isa;
        if (c_stack_run_with(x, &weights, memory.y, memory.workspace, &options) == LADON_OK) check(options);
      }
    }
  };
  check_each(c_stack_options{});
}

TEST_CASE("shorter runs use less memory") {
  static Call call;
  call.options.tokens = 2;
  call.y = call.memory.x + 2 * model;
  CHECK(call.run() == LADON_OK);
}

TEST_CASE("phases and shares of threads") {
  static Call call;
  static struct {
    alignas(64) unsigned char bytes[C_MASKED_TEAM_WORKSPACE_BYTES(3)];
  } team;
  std::vector<float> together(numbers);
  REQUIRE(call.run() == LADON_OK);
  for (std::size_t phase = 0; phase < C_MASKED_PHASES; ++phase) {
    for (std::size_t share = 0; share < 3; ++share) {
      CHECK(c_masked_run_phase(phase, share, 3, call.x, call.given, together.data(), team.bytes, &call.options) ==
            LADON_OK);
    }
  }
  CHECK(std::equal(together.begin(), together.end(), call.memory.y));
  const auto wrong = [&](std::size_t phase, std::size_t share, std::size_t shares) {
    return c_masked_run_phase(phase, share, shares, call.x, call.given, together.data(), team.bytes, nullptr) ==
           LADON_NO_SUCH_PHASE;
  };
  CHECK(wrong(C_MASKED_PHASES, 0, 3));
  CHECK(wrong(0, 3, 3));
  CHECK(wrong(0, 0, 0));
  CHECK(wrong(0, 0, SIZE_MAX));
}

TEST_CASE("an instruction set that does not exist") {
  const auto ask = [](auto options) {
    if constexpr (requires { options.isa; }) {
      const int none = 77;  // no enumerator of ladon_isa has this value, but C programs can store it
      std::memcpy(&options.isa, &none, sizeof(options.isa));
      CHECK(c_stack_run_with(nullptr, nullptr, nullptr, nullptr, &options) == LADON_UNSUPPORTED_ISA);
    }
  };
  ask(c_stack_options{});
}

TEST_CASE("a text names the limit or the function that avoids the error") {
  const auto says = [](ladon_status status, const char* words) {
    return std::string(ladon_status_text(status)).find(words) != std::string::npos;
  };
  CHECK(says(LADON_MISALIGNED, "_ALIGN"));
  CHECK(says(LADON_LENGTH_BEYOND_SHAPE, "NAME_QUERIES, NAME_KEYS"));
  CHECK(says(LADON_CACHE_NOT_CLEARED, "NAME_cache_clear"));
  CHECK(says(LADON_CACHE_FULL, "NAME_KEYS"));
}

TEST_CASE("every status has a different text") {
  std::vector<std::string> texts;
  for (int status = LADON_OK; status <= LADON_PHASE_OUT_OF_ORDER + 1; ++status) {
    texts.emplace_back(ladon_status_text(static_cast<ladon_status>(status)));
  }
  CHECK(texts.back() == "not a status of Ladon");
  std::ranges::sort(texts);
  CHECK(std::ranges::adjacent_find(texts) == texts.end());
}

}  // namespace ladon_test
