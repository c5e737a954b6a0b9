// Guarded is a buffer that detects accesses beyond its ends.
//
// A Guarded buffer has separate memory pages. The buffer begins or ends (Edge) directly next to an inaccessible page. A
// load or store beyond this edge ends the program. Guard bytes at the other edge detect stores, and a load of guard
// bytes gives NaN. Tests run each call with buffers at both edges. Without mmap, guard bytes lie on both sides.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace ladon_test {

enum class Edge { begin, end };  // the edge of the buffer that touches an inaccessible page

class Pages {
 public:
  Pages(std::size_t bytes, Edge edge);
  Pages(Pages&& other) noexcept;
  Pages& operator=(Pages&&) = delete;
  ~Pages();

  unsigned char* data() const { return data_; }
  void make_read_only();  // from now on, a store to the pages ends the program
  bool guards_intact() const;

 private:
  [[maybe_unused]] unsigned char* mapping_ = nullptr;
  [[maybe_unused]] std::size_t mapped_ = 0;
  unsigned char* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::vector<unsigned char> fallback_;  // the memory on systems without mmap
};

template <class T>
class Guarded {
 public:
  Guarded(std::size_t count, Edge edge) : pages_(count * sizeof(T), edge), count_(count) {}

  // Makes a read-only copy of `values`.
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
