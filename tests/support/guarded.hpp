// Memory that tells when somebody leaves it.
//
// A Guarded buffer lies at one edge of its own pages, next to a page that may not be touched: a load or store beyond
// that edge ends the program. On the other side stand guard bytes, which also are NaN for whoever reads them. Tests run
// everything at both edges, which makes the buffers start at all sorts of addresses as well. Where there is no mmap,
// guard bytes stand on both sides.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace ladon_test {

enum class Edge { begin, end };  // the side on which the forbidden page lies

class Pages {
 public:
  Pages(std::size_t bytes, Edge edge);
  Pages(Pages&& other) noexcept;
  Pages& operator=(Pages&&) = delete;
  ~Pages();

  unsigned char* data() const { return data_; }
  void make_read_only();  // from here on a store into it ends the program
  bool guards_intact() const;

 private:
  [[maybe_unused]] unsigned char* mapping_ = nullptr;
  [[maybe_unused]] std::size_t mapped_ = 0;
  unsigned char* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::vector<unsigned char> fallback_;  // where there is no mmap
};

template <class T>
class Guarded {
 public:
  Guarded(std::size_t count, Edge edge) : pages_(count * sizeof(T), edge), count_(count) {}

  // A copy that cannot be written to.
  Guarded(std::span<const T> values, Edge edge) : Guarded(values.size(), edge) {
    for (std::size_t i = 0; i < count_; ++i) data()[i] = values[i];
    pages_.make_read_only();
  }

  T* data() const { return reinterpret_cast<T*>(pages_.data()); }
  std::size_t size() const { return count_; }
  std::span<T> values() const { return {data(), count_}; }
  bool intact() const { return pages_.guards_intact(); }

 private:
  Pages pages_;
  std::size_t count_;
};

}  // namespace ladon_test
