// Tests results at compile time: the meaning of zeros in a shape, views of the caller's arrays, and sizes of memory.
#include <array>
#include <cstddef>
#include <span>
#include <type_traits>

#include <doctest/doctest.h>

#include <ladon/ladon.hpp>

namespace {

using ladon::Shape;

constexpr Shape usual = Shape{.queries = 64, .model = 128, .heads = 4}.complete();
static_assert(usual.keys == 64 && usual.kv_heads == 4 && usual.head_width == 32 && usual.value_width == 32);
constexpr Shape unusual =
    Shape{.queries = 3, .keys = 5, .model = 7, .heads = 6, .kv_heads = 2, .head_width = 4, .value_width = 9}.complete();
static_assert(unusual.query_rows() == 24 && unusual.key_rows() == 8 && unusual.value_rows() == 18);
static_assert(unusual.concat_width() == 54 && unusual.heads_per_group() == 3);

// A view of 2 x 3 floats can be made from a pointer to floats or from an array of 6 floats. It cannot be made from an
// array of another size, or from elements of another type.
using View = ladon::MatrixView<const float, 2, 3>;
static_assert(std::is_convertible_v<float (&)[6], View> && std::is_convertible_v<float (&)[2][3], View>);
static_assert(std::is_convertible_v<const float (&)[6], View> && std::is_convertible_v<const float*, View>);
static_assert(std::is_convertible_v<std::array<float, 6>&, View> && std::is_convertible_v<std::span<float, 6>, View>);
static_assert(std::is_convertible_v<ladon::MatrixView<float, 2, 3>, View>);
static_assert(!std::is_convertible_v<double*, View> && !std::is_convertible_v<ladon::MatrixView<float, 3, 2>, View>);
static_assert(!std::is_convertible_v<const float*, ladon::MatrixView<float, 2, 3>>);

// Tests that the workspace does not grow with queries x keys. T is the number of tokens, rounded up to whole panels
// (groups of tokens). D is the number of features, and d_k and d_v are the widths of a head. The workspace must have at
// most 2 T D + T (d_k + d_v) floats, plus the floats for one panel.
template <Shape Given>
constexpr bool workspace_is_small() {
  constexpr Shape s = Given.complete();
  using Attention = ladon::MultiHeadAttention<s>;
  using L = ladon::detail::ShapeLayout<s, ladon::detail::vec::NativeVectors>;
  constexpr std::size_t panel = L::queries.width(), tokens = L::queries.panels(s.queries) * panel;
  constexpr std::size_t floats = tokens * (s.model + s.concat_width()) + tokens * (s.head_width + s.value_width) +
                                 panel * (s.head_width + L::block + s.model);
  return sizeof(typename Attention::Workspace) <= 4 * floats + 6 * 64;  // each field begins on a new cache line
}
static_assert(workspace_is_small<Shape{.queries = 64, .model = 128, .heads = 4}>());
static_assert(workspace_is_small<Shape{.queries = 1024, .model = 512, .heads = 8}>());
static_assert(workspace_is_small<Shape{.queries = 33, .model = 20, .heads = 5}>());
static_assert(alignof(ladon::MultiHeadAttention<usual>::Workspace) == 64);
static_assert(sizeof(ladon::MultiHeadAttention<usual>::Workspace) <= 160 * 1024);

// A run may shorten the queries, the keys, or both.
using Options = ladon::RunOptions<unusual, ladon::mask::Unmasked, ladon::score::Scaled>;
constexpr bool equal(ladon::Lengths lengths, std::size_t queries, std::size_t keys) {
  return lengths.queries == queries && lengths.keys == keys;
}
static_assert(equal(Options{}.lengths(), 3, 5));
static_assert(equal(Options{.tokens = 2}.lengths(), 2, 2));
static_assert(equal(Options{.queries = 1}.lengths(), 1, 5));
static_assert(equal(Options{.keys = 0}.lengths(), 3, 0));
static_assert(equal(Options{.tokens = 2, .keys = 4}.lengths(), 2, 4));

using Attention = ladon::MultiHeadAttention<Shape{.queries = 2, .model = 3, .heads = 1}>;
static_assert(noexcept(Attention::run(View{}, Attention::Weights{}, ladon::MatrixView<float, 2, 3>{},
                                      std::declval<Attention::Workspace&>())));

}  // namespace

TEST_CASE("views point to the caller's array") {
  float rows[2][3] = {{1, 2, 3}, {4, 5, 6}};
  std::array<float, 6> flat{1, 2, 3, 4, 5, 6};
  const auto data = [](View view) { return view.data; };
  CHECK(data(rows) == &rows[0][0]);
  CHECK(data(flat) == flat.data());
  CHECK(data(std::span(flat)) == flat.data());
  CHECK(data(&rows[0][0]) == &rows[0][0]);
}
