#include "guarded.hpp"

#include <algorithm>
#include <cstdint>
#include <new>
#include <utility>

// WebAssembly has the header sys/mman.h, but no inaccessible pages. So buffers in WebAssembly get guard bytes instead.
#if __has_include(<sys/mman.h>) && __has_include(<unistd.h>) && !defined(__wasm__)
#include <sys/mman.h>
#include <unistd.h>
#define LADON_TEST_HAS_PAGES 1
#endif

namespace ladon_test {

namespace {

constexpr unsigned char guard = 0xff;  // four such bytes are a NaN

#if !defined(LADON_TEST_HAS_PAGES)
constexpr std::size_t margin = 4096, alignment = 64;
#endif

}  // namespace

#if defined(LADON_TEST_HAS_PAGES)

namespace {
std::size_t page_size() {
  static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}
}  // namespace

// Reserves this memory: | inaccessible page | pages of the buffer | inaccessible page |
Pages::Pages(std::size_t bytes, Edge edge) : bytes_(bytes) {
  const std::size_t page = page_size(), inner = std::max<std::size_t>((bytes + page - 1) / page, 1) * page;
  mapped_ = inner + 2 * page;
  void* const mapping = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  mapping_ = static_cast<unsigned char*>(mapping);
  unsigned char* const first = mapping_ + page;
  if (mprotect(first, inner, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  std::fill(first, first + inner, guard);
  data_ = edge == Edge::begin ? first : first + inner - bytes;
}

Pages::Pages(Pages&& other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)),
      mapped_(other.mapped_),
      data_(other.data_),
      bytes_(other.bytes_) {}

Pages::~Pages() {
  if (mapping_ != nullptr) munmap(mapping_, mapped_);
}

void Pages::make_read_only() {
  const std::size_t page = page_size();
  if (mprotect(mapping_ + page, mapped_ - 2 * page, PROT_READ) != 0) throw std::bad_alloc();
}

bool Pages::guards_intact() const {
  const std::size_t page = page_size();
  const auto untouched = [](unsigned char byte) { return byte == guard; };
  return std::all_of(mapping_ + page, data_, untouched) &&
         std::all_of(data_ + bytes_, mapping_ + mapped_ - page, untouched);
}

#else

// Reserves this memory: | guard bytes | the buffer, which begins or ends at an aligned address | guard bytes |
Pages::Pages(std::size_t bytes, Edge edge) : bytes_(bytes), fallback_(bytes + 2 * (margin + alignment), guard) {
  const std::size_t before = edge == Edge::begin ? margin : margin + bytes;
  const auto place = reinterpret_cast<std::uintptr_t>(fallback_.data() + before);
  data_ = fallback_.data() + before + (alignment - place % alignment) % alignment;
  if (edge == Edge::end) data_ -= bytes;
}

Pages::Pages(Pages&& other) noexcept
    : data_(other.data_), bytes_(other.bytes_), fallback_(std::move(other.fallback_)) {}

Pages::~Pages() = default;

void Pages::make_read_only() {}

bool Pages::guards_intact() const {
  const unsigned char* const first = fallback_.data();
  const auto untouched = [](unsigned char byte) { return byte == guard; };
  return std::all_of(first, static_cast<const unsigned char*>(data_), untouched) &&
         std::all_of(static_cast<const unsigned char*>(data_) + bytes_, first + fallback_.size(), untouched);
}

#endif

}  // namespace ladon_test
