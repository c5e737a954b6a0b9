#include "guarded_run.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "guarded.hpp"

namespace ladon_test {

bool is_poison(float value) { return std::bit_cast<std::uint32_t>(value) == poison_bits; }
float poison() { return std::bit_cast<float>(poison_bits); }

bool same_bits(std::span<const float> a, std::span<const float> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](float left, float right) {
    if (std::isnan(left) && std::isnan(right)) return is_poison(left) == is_poison(right);
    return std::bit_cast<std::uint32_t>(left) == std::bit_cast<std::uint32_t>(right);
  });
}

double worst_distance(std::span<const float> actual, const Expected& expected) {
  if (actual.size() != expected.size()) return std::numeric_limits<double>::infinity();
  double worst = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const bool written = !is_poison(actual[i]);
    if (written != expected[i].has_value()) return std::numeric_limits<double>::infinity();
    if (written) worst = std::max(worst, distance(actual[i], *expected[i]));
  }
  return worst;
}

namespace {

// The buffers of one task. In a run, either all buffers begin directly behind an inaccessible page, or all buffers end
// directly before an inaccessible page (guarded.hpp).
class Stage {
 public:
  Stage(const Subject& subject, const Task& task, Edge edge)
      : subject_(subject),
        task_(task),
        x_(part(task.x, task.x_used, edge), edge),
        context_(part(task.context, task.context_used, edge), edge),
        value_context_(part(task.value_context, task.value_context_used, edge), edge),
        may_see_(part(task.may_see, task.may_see_used, edge), edge),
        pairs_(std::span(task.pairs), edge),
        bits_(std::span(task.bits), edge),
        values_(std::span(task.values), edge),
        slopes_(std::span(task.slopes), edge),
        sinks_(std::span(task.sinks), edge),
        y_(task.aliased ? task.x.size() : part_size(task.y_size, task.y_used, edge), edge),
        workspace_(workspace_floats(), edge) {
    for (const Floats& weight : task.weights) weights_.emplace_back(std::span(weight), edge);
    const std::size_t map_size = subject.shape.heads * subject.shape.queries * subject.shape.keys;
    for (std::size_t i = 0; i < subject.layers; ++i) maps_.emplace_back(map_size, edge);
  }

  Outcome run(bool with_maps, std::optional<ladon::Stage> stage = {}) {
    std::ranges::fill(workspace_.values(), poison());
    std::ranges::fill(y_.values(), poison());
    if (task_.aliased) std::ranges::copy(task_.x, y_.data());
    std::vector<const float*> weights;
    for (const Guarded<float>& weight : weights_) weights.push_back(weight.data());
    std::vector<float*> maps;
    for (Guarded<float>& map : maps_) {
      std::ranges::fill(map.values(), poison());
      maps.push_back(map.data());
    }
    Call call{task_.lengths};
    call.x = task_.aliased ? y_.data() : x_.data();
    call.context = task_.context.empty() ? nullptr : context_.data();
    call.value_context = task_.value_context.empty() ? nullptr : value_context_.data();
    call.weights = weights.data();
    const auto given = [](const auto& buffer) { return buffer.size() == 0 ? nullptr : buffer.data(); };
    call.may_see = task_.may_see.empty() ? nullptr : may_see_.data();
    call.pairs = given(pairs_);
    call.bits = given(bits_);
    call.values = given(values_);
    call.slopes = given(slopes_);
    call.sinks = given(sinks_);
    call.capture = stage.has_value();
    call.stage = stage.value_or(ladon::Stage::weights);
    call.y = y_.data();
    call.workspace = workspace_.data();
    call.maps = with_maps ? maps.data() : nullptr;
    subject_.run(call);
    CHECK_MESSAGE(guards_intact(), "a guard byte has been overwritten");
    return outcome(with_maps);
  }

 private:
  static std::size_t part_size(std::size_t size, std::size_t used, Edge edge) {
    return edge == Edge::end ? std::min(size, used) : size;
  }
  template <class T>
  static std::span<const T> part(const std::vector<T>& all, std::size_t used, Edge edge) {
    return std::span(all).first(part_size(all.size(), used, edge));
  }

  std::size_t workspace_floats() const {
    const bool cross = !task_.context.empty();
    return (cross ? subject_.cross_workspace_bytes : subject_.workspace_bytes) / sizeof(float);
  }

  bool guards_intact() const {
    const auto intact = [](const auto& buffer) { return buffer.intact(); };
    return x_.intact() && context_.intact() && value_context_.intact() && may_see_.intact() && pairs_.intact() &&
           bits_.intact() && values_.intact() && slopes_.intact() && sinks_.intact() && y_.intact() &&
           workspace_.intact() && std::ranges::all_of(weights_, intact) && std::ranges::all_of(maps_, intact);
  }

  Outcome outcome(bool with_maps) const {
    Outcome result;
    result.y.assign(y_.data(), y_.data() + y_.size());
    result.y.resize(task_.y_size, poison());
    if (with_maps) {
      for (const Guarded<float>& map : maps_) result.maps.emplace_back(map.data(), map.data() + map.size());
    }
    return result;
  }

  const Subject& subject_;
  const Task& task_;
  Guarded<float> x_, context_, value_context_;
  Guarded<std::uint8_t> may_see_, pairs_;
  Guarded<std::uint32_t> bits_;
  Guarded<float> values_, slopes_, sinks_;
  Guarded<float> y_, workspace_;
  std::vector<Guarded<float>> weights_, maps_;
};

}  // namespace

Outcome run_guarded(const Subject& subject, const Task& task) {
  Stage begin(subject, task, Edge::begin);
  const Outcome plain = begin.run(false);
  Stage end(subject, task, Edge::end);
  const Outcome plain_again = end.run(false);
  CHECK_MESSAGE(same_bits(plain.y, plain_again.y), "y differs between two runs");
  if (subject.maps == Maps::without) return plain;
  Outcome mapped = begin.run(true);
  CHECK_MESSAGE(same_bits(plain.y, mapped.y), "asking for the map changed y");
  const Outcome mapped_again = end.run(true);
  CHECK_MESSAGE(same_bits(plain.y, mapped_again.y), "y differs between two runs");
  for (std::size_t i = 0; i < mapped.maps.size(); ++i) {
    CHECK_MESSAGE(same_bits(mapped.maps[i], mapped_again.maps[i]), "the map differs between two runs");
  }
  mapped.y = plain.y;
  return mapped;
}

Floats run_capturing(const Subject& subject, const Task& task, ladon::Stage stage, const Floats& expected) {
  const Outcome begin = Stage(subject, task, Edge::begin).run(true, stage);
  const Outcome end = Stage(subject, task, Edge::end).run(true, stage);
  CHECK_MESSAGE(same_bits(begin.y, expected), "asking for a stage changed y");
  CHECK_MESSAGE(same_bits(end.y, expected), "asking for a stage changed y");
  CHECK_MESSAGE(same_bits(begin.maps[0], end.maps[0]), "a stage differs between two runs");
  return begin.maps[0];
}

}  // namespace ladon_test
