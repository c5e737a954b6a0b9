// SPDX-License-Identifier: Apache-2.0
// Tests that the weights of an image are those that were written.
#include <doctest/doctest.h>

#include <cstring>
#include <type_traits>
#include <vector>

#include <ladon/ladon.hpp>
#include <ladon/model/weight_image.hpp>

namespace {

using ladon::Bias, ladon::Linear, ladon::Norm, ladon::NormKind, ladon::Order, ladon::VectorView;

constexpr ladon::Model encoder{.layers = 2,
                               .tokens = 5,
                               .model = 8,
                               .heads = 2,
                               .feed_forward = 16,
                               .gated = true,
                               .final_norm = ladon::FinalNorm::with,
                               .query_key_norm = {ladon::HeadNorm::head, NormKind::layer, Bias::with}};
constexpr ladon::Model decoder{.layers = 1,
                               .tokens = 3,
                               .memory = 5,
                               .model = 8,
                               .heads = 2,
                               .feed_forward = 8,
                               .layout = ladon::LayoutKind::per_head};

// The weights of a model with parts of each kind.
template <std::size_t Labels>
struct Weights {
  ladon::Encoder<encoder>::Weights encoder_;
  ladon::Decoder<decoder>::Weights decoder_;
  Linear<Labels, 8, Order::out_in, Bias::with, ladon::precision::Int8<8, true>> head;
  Norm<8, NormKind::rms> norm;
  VectorView<const float, 7> row;
  template <class F>
  constexpr void for_each_part(F f) {
    f(encoder_), f(decoder_), f(head), f(norm), f(row);
  }
};

template <class T>
constexpr bool is_epsilon = std::is_same_v<T, float>;

// Points each tensor at other bytes of `memory`, and gives each epsilon another value.
template <class W>
std::size_t fill(W& weights, const std::vector<float>& memory) {
  std::size_t tensors = 0;
  ladon::for_each_tensor(weights, [&]<class T>(T& tensor) {
    ++tensors;
    if constexpr (is_epsilon<T>) {
      tensor = static_cast<float>(tensors);
    } else {
      tensor = reinterpret_cast<decltype(tensor.data)>(memory.data() + 5 * tensors);
    }
  });
  return tensors;
}

struct alignas(ladon::image_alignment) Line {
  std::byte bytes[ladon::image_alignment];
};

}  // namespace

TEST_CASE("weights of an image have the values that were written") {
  using W = Weights<10>;
  std::vector<float> memory(4096);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<float>(i) * 0.37f;
  W written{};
  const std::size_t tensors = fill(written, memory);
  CHECK(tensors > 60);
  std::vector<Line> image(ladon::image_bytes<W> / sizeof(Line));
  REQUIRE(image.size() * sizeof(Line) == ladon::image_bytes<W>);
  ladon::write_image(written, image[0].bytes);
  REQUIRE(ladon::is_image<W>(image.data(), ladon::image_bytes<W>));
  W read = ladon::from_image<W>(image.data());
  std::vector<const void*> places;
  std::vector<float> epsilons;
  ladon::for_each_tensor(read, [&]<class T>(T& tensor) {
    if constexpr (is_epsilon<T>) {
      epsilons.push_back(tensor);
    } else {
      places.push_back(tensor.data);
    }
  });
  std::size_t place = 0, epsilon = 0;
  ladon::for_each_tensor(written, [&]<class T>(T& tensor) {
    if constexpr (is_epsilon<T>) {
      CHECK(epsilons[epsilon++] == tensor);
    } else {
      CHECK(reinterpret_cast<std::uintptr_t>(places[place]) % ladon::image_alignment == 0);
      CHECK(std::memcmp(places[place++], tensor.data, T::size * sizeof(*tensor.data)) == 0);
    }
  });
  CHECK(place + epsilon == tensors);
}

TEST_CASE("an image of other weights, or of another size, is refused") {
  using W = Weights<10>;
  std::vector<float> memory(4096);
  W weights{};
  fill(weights, memory);
  std::vector<Line> image(ladon::image_bytes<W> / sizeof(Line));
  ladon::write_image(weights, image[0].bytes);
  CHECK_FALSE(ladon::is_image<W>(image.data(), ladon::image_bytes<W> - 64));
  CHECK_FALSE(ladon::is_image<W>(image.data(), 10));
  CHECK_FALSE(ladon::is_image<Weights<11>>(image.data(), ladon::image_bytes<Weights<11>>));
  CHECK_FALSE(ladon::is_image<Weights<9>>(image.data(), ladon::image_bytes<W>));
  image[0].bytes[0] = std::byte{0};
  CHECK_FALSE(ladon::is_image<W>(image.data(), ladon::image_bytes<W>));
}

TEST_CASE("an image keeps which linear maps with 4 bits have int8 weights") {
  constexpr ladon::Model int4{
      .layers = 3, .tokens = 4, .model = 64, .heads = 2, .feed_forward = 96, .precision = ladon::PrecisionKind::int4};
  using W = ladon::Encoder<int4>::Weights;
  std::vector<float> memory(4096);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<float>(i) * 0.37f;
  const auto* const bytes = reinterpret_cast<const std::int8_t*>(memory.data());
  W written{};
  written.layers[1].linear2.int8_weight = bytes;
  written.layers[2].linear1.int8_weight = bytes;
  fill(written, memory);
  const std::size_t size = ladon::image_bytes_of(written);
  CHECK(size > ladon::image_bytes<W>);
  std::vector<Line> image(size / sizeof(Line));
  ladon::write_image(written, image[0].bytes);
  CHECK(ladon::stated_image_bytes(image.data()) == size);
  REQUIRE(ladon::is_image<W>(image.data(), size));
  const W read = ladon::from_image<W>(image.data());
  CHECK(read.layers[0].linear1.int8_weight.data == nullptr);
  CHECK(read.layers[1].linear2.weight.data == nullptr);
  const auto expect_equal = [](const auto& a, const auto& b, std::size_t count) {
    CHECK(std::memcmp(a.data, b.data, count) == 0);
  };
  expect_equal(read.layers[0].linear1.weight, written.layers[0].linear1.weight, 96 * ladon::int4_row_bytes(64));
  expect_equal(read.layers[1].linear2.int8_weight, written.layers[1].linear2.int8_weight, 64 * 96);
  expect_equal(read.layers[2].linear1.int8_weight, written.layers[2].linear1.int8_weight, 96 * 64);
  expect_equal(read.layers[2].norm2.bias, written.layers[2].norm2.bias, 64 * sizeof(float));
  CHECK_FALSE(ladon::is_image<W>(image.data(), ladon::image_bytes<W>));
  CHECK_FALSE(ladon::is_image<W>(image.data(), 64));
  image[1].bytes[0] = std::byte{1};  // as if in_proj of the first layer had int8 weights
  CHECK_FALSE(ladon::is_image<W>(image.data(), size));
}
