// The program that measures oneDNN for `./dev bench peers`. oneDNN has no attention layer, so this file builds
// attention from primitives of oneDNN.
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <oneapi/dnnl/dnnl.hpp>

#include "serve.hpp"

namespace {

using namespace ladon_bench;
using dnnl::memory, dnnl::matmul;
using Tag = memory::format_tag;

// The benchmark compares these two ways to compute attention. With `in_place`, the products of a head read and write
// parts of the matrices that the projections use. With `copied`, the products use copies in the layout that oneDNN
// prefers.
const std::string in_place = "heads in place", copied = "heads copied";

class Attention {
 public:
  Attention(const Case& one, const Numbers& numbers, const std::string& form)
      : tokens_(static_cast<memory::dim>(one.tokens)),
        model_(static_cast<memory::dim>(one.model)),
        heads_(static_cast<memory::dim>(one.heads)),
        width_(model_ / heads_),
        copied_(form == copied),
        x_(numbers.at("x")),
        y_(x_.size()) {
    // The weights of the queries already contain the factor 1 / sqrt(width of a head) of the scores. So the factor
    // costs no time in a call.
    std::vector<float> weight = numbers.at("in_proj_weight"), bias = numbers.at("in_proj_bias");
    const float scale = 1 / std::sqrt(static_cast<float>(width_));
    for (std::size_t i = 0; i < one.model * one.model; ++i) weight[i] *= scale;
    for (std::size_t i = 0; i < one.model; ++i) bias[i] *= scale;

    const memory x = dense({tokens_, model_}, Tag::ab, x_.data()), projected = dense({tokens_, 3 * model_}, Tag::ab);
    project(x, weight, bias, projected);
    const memory scores = score(projected);
    if (one.mask == "causal") hide_later_keys(scores);
    weigh_up(scores);
    const memory together = weigh(scores, projected);
    project(together, numbers.at("out_proj_weight"), numbers.at("out_proj_bias"),
            dense({tokens_, model_}, Tag::ab, y_.data()));
  }

  void run() {
    for (const auto& [primitive, arguments] : steps_) primitive.execute(stream_, arguments);
    stream_.wait();
  }

  const std::vector<float>& result() const { return y_; }

 private:
  using Arguments = std::unordered_map<int, memory>;

  static memory::desc described(const memory::dims& dims, Tag tag) { return {dims, memory::data_type::f32, tag}; }

  memory dense(const memory::dims& dims, Tag tag) { return {described(dims, tag), engine_}; }
  memory dense(const memory::dims& dims, Tag tag, const float* data) {
    return {described(dims, tag), engine_, const_cast<float*>(data)};
  }

  // Returns a view of the matrix `all` [tokens][...]. The view begins at element `first` of the matrix, and has the
  // extents `dims` and the strides `strides`. Callers view a part of `all` as [heads][rows][columns].
  memory heads_of(const memory& all, memory::dim first, const memory::dims& dims, const memory::dims& strides) {
    return {memory::desc(dims, memory::data_type::f32, strides), engine_,
            static_cast<float*>(all.get_data_handle()) + first};
  }

  memory::desc preferred(const memory& given) const {
    return copied_ ? described(given.get_desc().dims(), Tag::any) : given.get_desc();
  }

  // Returns `given` if it has the layout `wanted`. Otherwise, adds a step that copies `given` to the layout `wanted` in
  // every run, and returns the copy.
  memory as(const memory::desc& wanted, const memory& given) {
    if (wanted == given.get_desc()) return given;
    const memory other(wanted, engine_);
    steps_.emplace_back(dnnl::reorder(given, other), Arguments{{DNNL_ARG_FROM, given}, {DNNL_ARG_TO, other}});
    return other;
  }

  // Adds the step y = x weight^T + bias. The weights are converted once to the layout that oneDNN prefers.
  void project(const memory& x, const std::vector<float>& weight, const std::vector<float>& bias, const memory& y) {
    const memory::dim out = static_cast<memory::dim>(bias.size());
    const matmul::primitive_desc product(
        matmul::desc(x.get_desc(), described({model_, out}, Tag::any), described({1, out}, Tag::ab), y.get_desc()),
        engine_);
    memory laid_out(product.weights_desc(), engine_), own_bias = dense({1, out}, Tag::ab);
    memory given = dense({model_, out}, Tag::ba, weight.data()), given_bias = dense({1, out}, Tag::ab, bias.data());
    dnnl::reorder(given, laid_out).execute(stream_, given, laid_out);
    dnnl::reorder(given_bias, own_bias).execute(stream_, given_bias, own_bias);
    stream_.wait();
    steps_.emplace_back(
        matmul(product),
        Arguments{{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, laid_out}, {DNNL_ARG_BIAS, own_bias}, {DNNL_ARG_DST, y}});
  }

  memory score(const memory& projected) {
    const memory::dims rows{heads_, tokens_, width_}, columns{heads_, width_, tokens_};
    const memory q = heads_of(projected, 0, rows, {width_, 3 * model_, 1});
    const memory k = heads_of(projected, model_, columns, {width_, 1, 3 * model_});
    const memory scores = dense({heads_, tokens_, tokens_}, Tag::abc);
    multiply(q, preferred(q), k, preferred(k), scores, scores.get_desc());
    return scores;
  }

  memory weigh(const memory& weights, const memory& projected) {
    const memory::dims rows{heads_, tokens_, width_};
    const memory v = heads_of(projected, 2 * model_, rows, {width_, 3 * model_, 1});
    const memory together = dense({tokens_, model_}, Tag::ab);
    const memory by_head = heads_of(together, 0, rows, {width_, model_, 1});
    multiply(weights, weights.get_desc(), v, preferred(v), by_head, preferred(by_head));
    return together;
  }

  // Adds the step result = a b. The product uses the layouts a_wanted, b_wanted and `wanted`. For Tag::any, oneDNN
  // chooses a layout. If a, b or the result has a different layout than in the product, every run copies the array.
  void multiply(const memory& a, const memory::desc& a_wanted, const memory& b, const memory::desc& b_wanted,
                const memory& result, const memory::desc& wanted) {
    const matmul::primitive_desc product(matmul::desc(a_wanted, b_wanted, wanted), engine_);
    const memory from_a = as(product.src_desc(), a), from_b = as(product.weights_desc(), b);
    const bool direct = product.dst_desc() == result.get_desc();
    const memory to = direct ? result : memory(product.dst_desc(), engine_);
    steps_.emplace_back(matmul(product),
                        Arguments{{DNNL_ARG_SRC, from_a}, {DNNL_ARG_WEIGHTS, from_b}, {DNNL_ARG_DST, to}});
    if (!direct) {
      steps_.emplace_back(dnnl::reorder(to, result), Arguments{{DNNL_ARG_FROM, to}, {DNNL_ARG_TO, result}});
    }
  }

  // Adds the causal mask as a separate primitive. If the mask were a post-op of the product, oneDNN 2.6 would use slow
  // reference code.
  void hide_later_keys(const memory& scores) {
    const memory hidden = dense({1, tokens_, tokens_}, Tag::abc);
    float* value = static_cast<float*>(hidden.get_data_handle());
    for (memory::dim query = 0; query < tokens_; ++query) {
      for (memory::dim key = 0; key < tokens_; ++key) {
        *value++ = key <= query ? 0 : -std::numeric_limits<float>::infinity();
      }
    }
    const dnnl::binary::primitive_desc sum(
        {dnnl::algorithm::binary_add, scores.get_desc(), hidden.get_desc(), scores.get_desc()}, engine_);
    steps_.emplace_back(dnnl::binary(sum),
                        Arguments{{DNNL_ARG_SRC_0, scores}, {DNNL_ARG_SRC_1, hidden}, {DNNL_ARG_DST, scores}});
  }

  void weigh_up(const memory& scores) {
    const dnnl::softmax_forward::primitive_desc softmax({dnnl::prop_kind::forward_inference, scores.get_desc(), 2},
                                                        engine_);
    steps_.emplace_back(dnnl::softmax_forward(softmax), Arguments{{DNNL_ARG_SRC, scores}, {DNNL_ARG_DST, scores}});
  }

  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  memory::dim tokens_, model_, heads_, width_;
  bool copied_;
  const std::vector<float>& x_;
  std::vector<float> y_;
  std::vector<std::pair<dnnl::primitive, Arguments>> steps_;
};

class OneDnnPeer {
 public:
  json begin(const Case& one) {
    const dnnl_version_t& version = *dnnl_version();
    const std::string text =
        std::to_string(version.major) + "." + std::to_string(version.minor) + "." + std::to_string(version.patch);
    json forms = json::array();
    if (one.layer == "attention" && one.precision == "float32") forms = {in_place, copied};
    return {{"name", "oneDNN"}, {"versions", {{"onednn", text}}}, {"forms", forms}};
  }

  std::unique_ptr<Attention> build(const Case& one, const Numbers& numbers, const std::string& form) {
    return std::make_unique<Attention>(one, numbers, form);
  }

  json other(const json& request) { throw std::runtime_error("what is " + request.dump() + "?"); }
};

}  // namespace

int main() { return serve<OneDnnPeer>(); }
