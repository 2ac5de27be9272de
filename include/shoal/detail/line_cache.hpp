// SPDX-License-Identifier: Apache-2.0
// A worker's copies of elements of other nodes, in lines that lie one behind the other at their owner: sets of four
// lines, of which one that was not read lately is replaced. Lines on their way are fetched once, whoever wants them.
// Who may call: tasks, on the worker that it belongs to. find() does not switch; read() waits; begin() may switch when
// buffers are full. Guarantees: bounded: where all lines of a set, or all records of lines on their way, are in use,
// the caller reads without the cache. Shown by tests/cluster/array_stream_test.cpp.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "shoal/detail/array_layout.hpp"
#include "shoal/detail/port.hpp"

namespace shoal {

/// Of reads of elements whose memory is not mapped.
struct read_cache_counts {
  std::uint64_t hits = 0;      // answered at once
  std::uint64_t misses = 0;    // a line was fetched
  std::uint64_t merged = 0;    // the line was on its way
  std::uint64_t bypassed = 0;  // read as if there were no cache

  friend read_cache_counts operator+(const read_cache_counts& a, const read_cache_counts& b) noexcept {
    return {a.hits + b.hits, a.misses + b.misses, a.merged + b.merged, a.bypassed + b.bypassed};
  }
};

namespace detail {

/// For as long as it exists, checked builds end the program where this node modifies the array.
class declared_read_only {
public:
  explicit declared_read_only(const array_layout& layout) noexcept;
  declared_read_only(const declared_read_only&) = delete;
  declared_read_only& operator=(const declared_read_only&) = delete;
  ~declared_read_only();

private:
  std::uint32_t slot_;
  bool exists_;  // an array without elements is none
};

class alignas(64) line_cache {
public:
  /// An element that is not mapped here, and its line.
  struct wanted {
    std::uint64_t line;      // its name
    array_layout::place at;  // of the line's first element
    std::uint32_t bytes;     // of the line
    std::uint32_t element;   // bytes from the line's begin
    std::uint32_t element_bytes;
    std::uint8_t unit;  // of copying
    std::uint8_t code;  // of the command that reads one element; 0: there is none
  };
  static constexpr unsigned k_node_shift = 40;

  /// `lines`: eight are made at least, and a power of two. `line_bytes`: a multiple of 8.
  line_cache(std::uint64_t lines, std::uint32_t line_bytes);
  line_cache(const line_cache&) = delete;
  line_cache& operator=(const line_cache&) = delete;
  ~line_cache();

  /// The line's bytes, until the next operation; nullptr: not here.
  const std::byte* find(std::uint64_t line) noexcept {
    std::uint64_t* const tags = tags_of(line);
    const std::uint64_t wanted_tag = line << 2 | k_read_lately;
    unsigned found = 0;  // nobody predicts in which way it is
    for (unsigned way = 0; way < k_ways; ++way) found |= ((tags[way] | k_read_lately) == wanted_tag ? 1U : 0U) << way;
    if (found != 0) {
      const auto way = static_cast<std::uint64_t>(std::countr_zero(found));
      if ((tags[way] & k_read_lately) == 0) tags[way] |= k_read_lately;
      ++counts_.hits;
      return line_of(tags, way);
    }
    return nullptr;
  }
  /// Element to `target`. False: read it in another way.
  bool read(const wanted& w, void* target);
  bool begin(const wanted& w, void* target);
  const read_cache_counts& counts() const noexcept { return counts_; }

private:
  struct waiter;
  struct fetch;
  enum class state : std::uint8_t { here, expected, refused };

  static constexpr std::uint64_t k_ways = 4;
  // In a tag: the name of the line, above two bits.
  static constexpr std::uint64_t k_read_lately = 1;
  static constexpr std::uint64_t k_on_its_way = 2;

  // A set is four tags and the four lines behind them: of short lines one line of the processor's cache.
  std::uint64_t* tags_of(std::uint64_t line) const noexcept {
    return reinterpret_cast<std::uint64_t*>(sets_ + ((line * 0x9e3779b97f4a7c15u) >> set_shift_) * set_bytes_);
  }
  std::byte* line_of(std::uint64_t* tags, std::uint64_t way) const noexcept {
    return reinterpret_cast<std::byte*>(tags + k_ways) + way * line_bytes_;
  }
  state expect(const wanted& w, void* target, suspended* task, waiter* own);
  std::uint64_t replaced(std::uint64_t* tags) noexcept;
  static void arrived(reply_receiver& self, const std::uint64_t* words) noexcept;

  std::byte* sets_ = nullptr;
  std::uint64_t set_bytes_ = 0;
  std::uint32_t line_bytes_ = 0;
  unsigned set_shift_ = 0;
  read_cache_counts counts_;
  std::unique_ptr<std::byte[]> memory_;
  std::unique_ptr<fetch[]> fetches_;
  std::unique_ptr<waiter[]> waiters_;  // of begin(), where another one fetches the line
  fetch* free_fetches_ = nullptr;
  waiter* free_waiters_ = nullptr;
  std::uint64_t on_their_way_ = 0;
  std::uint64_t hand_ = 0;
};

}  // namespace detail
}  // namespace shoal
