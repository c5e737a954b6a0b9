// Masks: which query may see which key. A mask is a type; what only a run knows is its Data; bound to the lengths of a
// run it answers, and the kernels know no more of it than these answers:
//
//     panel(queries)         the keys that some of these queries may see, and those that all of them may
//     may_see(query, key)    lane by lane; asked of any key from the first that is seen to the last
//     hides_keys             false only where every query sees every active key
//
// "May see" is true (1) in every mask of ours; PyTorch's padding masks are the other way round.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include <ladon/shape.hpp>
#include <ladon/simd/pack.hpp>

namespace ladon::inline LADON_ABI {

// [begin, end)
struct Range {
  std::size_t begin;
  std::size_t end;
  constexpr bool contains(Range inner) const noexcept { return begin <= inner.begin && inner.end <= end; }
  friend constexpr Range operator&(Range a, Range b) noexcept {
    const std::size_t first = a.begin > b.begin ? a.begin : b.begin;
    const std::size_t last = a.end < b.end ? a.end : b.end;
    return {first, last < first ? first : last};
  }
};

// Keys for a panel of queries. Outside `seen` nothing counts (and no block of keys is computed), inside `clear` nothing
// need be compared.
struct VisibleKeys {
  Range seen;
  Range clear;
  friend constexpr VisibleKeys operator&(const VisibleKeys& a, const VisibleKeys& b) noexcept {
    return {a.seen & b.seen, a.clear & b.clear};
  }
};

namespace mask {

// Every active key is seen.
struct None {
  struct Data {};
  struct Bound {
    static constexpr bool hides_keys = false;
    std::size_t keys;
    constexpr VisibleKeys panel(Range) const noexcept { return {{0, keys}, {0, keys}}; }
    template <class Pack>
    LADON_INLINE constexpr typename Pack::Mask may_see(const Pack&, std::size_t) const noexcept {
      return Pack::every_lane(true);
    }
  };
  static constexpr Bound bind(const Shape&, Lengths lengths, const Data&) noexcept { return {lengths.keys}; }
};

// Query i sees keys <= i + offset. By default the offset is keys - queries of the shape, whatever the lengths of a run,
// so that the shape's last query sees its last key (bottom right); PyTorch's is_causal with unequal lengths is offset 0
// (top left).
struct Causal {
  static constexpr std::ptrdiff_t bottom_right = PTRDIFF_MIN;
  struct Data {
    std::ptrdiff_t offset = bottom_right;
  };
  struct Bound {
    static constexpr bool hides_keys = true;
    std::ptrdiff_t offset;
    std::size_t keys;
    constexpr VisibleKeys panel(Range queries) const noexcept {
      return {{0, keys_of(queries.end - 1)}, {0, keys_of(queries.begin)}};
    }
    template <class Pack>
    LADON_INLINE constexpr typename Pack::Mask may_see(const Pack& query, std::size_t key) const noexcept {
      return Pack::broadcast(static_cast<float>(static_cast<std::ptrdiff_t>(key) - offset)) <= query;
    }

   private:
    constexpr std::size_t keys_of(std::size_t query) const noexcept {
      const std::ptrdiff_t count = static_cast<std::ptrdiff_t>(query) + offset + 1;
      if (count <= 0) return 0;
      return static_cast<std::size_t>(count) < keys ? static_cast<std::size_t>(count) : keys;
    }
  };
  static constexpr Bound bind(const Shape& shape, Lengths lengths, const Data& data) noexcept {
    // Positions are below 2^24: an offset beyond shows all or nothing, and sums with it must not overflow.
    constexpr std::ptrdiff_t far = std::ptrdiff_t(1) << 24;
    const std::ptrdiff_t offset = data.offset == bottom_right ? static_cast<std::ptrdiff_t>(shape.keys) -
                                                                    static_cast<std::ptrdiff_t>(shape.queries)
                                                              : data.offset;
    return {offset < -far ? -far : offset > far ? far : offset, lengths.keys};
  }
};

// One byte a key, may_see[keys]: 0 hides it from every query. A null pointer hides none. Hiding a key does not skip
// that token as a query. Where only the end is padding, an active length (RunOptions::keys) is faster.
struct Padding {
  struct Data {
    const std::uint8_t* may_see = nullptr;
  };
  struct Bound {
    static constexpr bool hides_keys = true;
    const std::uint8_t* shown;
    VisibleKeys keys;
    constexpr VisibleKeys panel(Range) const noexcept { return keys; }
    template <class Pack>
    LADON_INLINE constexpr typename Pack::Mask may_see(const Pack&, std::size_t key) const noexcept {
      return Pack::every_lane(shown == nullptr || shown[key] != 0);
    }
  };
  static constexpr Bound bind(const Shape&, Lengths lengths, const Data& data) noexcept {
    const std::uint8_t* const shown = data.may_see;
    if (shown == nullptr) return {shown, {{0, lengths.keys}, {0, lengths.keys}}};
    std::size_t first = 0, last = lengths.keys;
    while (first < last && shown[first] == 0) ++first;
    while (last > first && shown[last - 1] == 0) --last;
    std::size_t hole = first;
    while (hole < last && shown[hole] != 0) ++hole;
    return {shown, {{first, last}, {first, hole}}};
  }
};

// A key is seen where both masks show it.
template <class A, class B>
struct Both {
  struct Data {
    typename A::Data first{};
    typename B::Data second{};
  };
  struct Bound {
    static constexpr bool hides_keys = A::Bound::hides_keys || B::Bound::hides_keys;
    typename A::Bound first;
    typename B::Bound second;
    constexpr VisibleKeys panel(Range queries) const noexcept { return first.panel(queries) & second.panel(queries); }
    template <class Pack>
    LADON_INLINE constexpr typename Pack::Mask may_see(const Pack& query, std::size_t key) const noexcept {
      return first.may_see(query, key) & second.may_see(query, key);
    }
  };
  static constexpr Bound bind(const Shape& shape, Lengths lengths, const Data& data) noexcept {
    return {A::bind(shape, lengths, data.first), B::bind(shape, lengths, data.second)};
  }
};

template <class T>
concept Policy = requires(const Shape& shape, Lengths lengths, const typename T::Data& data,
                          const typename T::Bound& bound, const simd::ArrayPack<1>& query) {
  { T::bind(shape, lengths, data) } noexcept -> std::same_as<typename T::Bound>;
  { bound.panel(Range{}) } -> std::same_as<VisibleKeys>;
  { bound.may_see(query, std::size_t{}) } -> std::same_as<simd::ArrayPack<1>::Mask>;
  { T::Bound::hides_keys } -> std::convertible_to<bool>;
};

// Both<A, B> for an expression: decltype(Causal{} & Padding{}).
template <Policy A, Policy B>
constexpr Both<A, B> operator&(A, B) noexcept {
  return {};
}

}  // namespace mask
}  // namespace ladon::inline LADON_ABI
