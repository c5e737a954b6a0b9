// What only a run can tell of a C call: null pointers, alignment, lengths, overlaps. All of it is asked before anything
// is written; the first that is wrong is the call's status.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/target/compiler.hpp>

namespace c_kernel {

// Of what a call writes, at most MostWritten pieces.
template <std::size_t MostWritten>
class Check {
 public:
  ladon_status status() const { return status_; }
  bool ok() const { return status_ == LADON_OK; }
  void expect(bool holds, ladon_status otherwise) {
    if (!holds && status_ == LADON_OK) status_ = otherwise;
  }

  // Memory that is aligned as the header says.
  void aligned(const void* memory, ladon_status if_null) {
    expect(memory != nullptr, if_null);
    expect(reinterpret_cast<std::uintptr_t>(memory) % 64 == 0, LADON_MISALIGNED);
  }
  // Every piece that is written, before any that is read.
  template <class T>
  void writes(const T* memory, std::size_t count) {
    const Piece piece = piece_of(memory, count);
    expect(apart(piece), LADON_OVERLAP);
    if (count_ < MostWritten) written_[count_++] = piece;
  }
  // A null pointer is read nowhere.
  template <class T>
  void reads(const T* memory, std::size_t count) {
    if (memory != nullptr) expect(apart(piece_of(memory, count)), LADON_OVERLAP);
  }
  // An x that may be y, the first piece written.
  void reads_x(const float* x, std::size_t count) {
    const Piece piece = piece_of(x, count);
    for (std::size_t i = 0; i < count_; ++i) {
      const bool same = i == 0 && piece.begin == written_[0].begin;
      expect(same || !piece.meets(written_[i]), LADON_OVERLAP);
    }
  }

 private:
  struct Piece {
    std::uintptr_t begin, end;
    bool meets(const Piece& other) const { return begin < other.end && other.begin < end; }
  };
  template <class T>
  static Piece piece_of(const T* memory, std::size_t count) {
    const auto begin = reinterpret_cast<std::uintptr_t>(memory);
    return {begin, begin + count * sizeof(T)};
  }
  // Inlined for every tensor, it takes a hundred bytes of a gzipped module.
  LADON_NOINLINE bool apart(const Piece& piece) const {
    for (std::size_t i = 0; i < count_; ++i) {
      if (piece.meets(written_[i])) return false;
    }
    return true;
  }

  ladon_status status_ = LADON_OK;
  Piece written_[MostWritten] = {};
  std::size_t count_ = 0;
};

}  // namespace c_kernel
