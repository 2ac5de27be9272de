// SPDX-License-Identifier: Apache-2.0
// Counts of keys on their way to their owners: a small table of fixed size in which repeated keys are counted. A key
// has two places; if others have both, the one that was counted less often leaves through a sink:
//   bool sink(std::uint64_t hash, Key& key, std::uint64_t count)     // false: it cannot take it now, and the key stays
// Who may call: one thread at a time; never waits or switches. A sink may move the key away, and must not call the
// table.
// Guarantees: what was added is the sum of what is here and what sinks took, at any moment. write() takes time in
// proportion to what is here. Source: YGM's counting_set (Steil et al., 2023), whose table has one place per key.
// Shown by tests/unit/cluster/combining_table_test.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

namespace shoal::detail {

enum class combined : std::uint8_t {
  counted,  // the key was here
  entered,  // it is now
  refused   // the sink takes nothing: the caller keeps it
};

template <class Key, class Hash, std::size_t Slots = 4096>
class combining_table {
  static_assert(Slots % 2 == 0 && Slots - 1 <= std::numeric_limits<std::uint16_t>::max());

public:
  /// `count` is not 0.
  template <class Sink>
  combined add(std::uint64_t hash, const Key& key, std::uint64_t count, const Sink& sink) {
    entry* const pair = &entries_[2 * ((hash >> k_shift) % (Slots / 2))];
    for (entry* e = pair; e < pair + 2; ++e) {
      if (e->count != 0 && e->key == key) {
        e->count += count;
        return combined::counted;
      }
    }
    entry* e = pair[0].count == 0 ? pair : pair + 1;
    if (e->count != 0) {
      if (pair[0].count < pair[1].count) e = pair;
      if (!sink(Hash()(e->key), e->key, e->count)) return combined::refused;
      // The older of two that are as rare leaves next. Not while write() is under way: it would miss what moves back.
      if (e == pair + 1 && pair[0].count == 1 && at_ == end_) {
        std::swap(pair[0].key, pair[1].key);
        pair[1].count = 1;
        e = pair;
      }
    } else {
      order_[used_++] = static_cast<std::uint16_t>(e - entries_.data());
    }
    e->count = 0;  // if the key cannot be copied
    e->key = key;
    e->count = count;
    return combined::entered;
  }

  /// Gives the sink all that is here now. False: the sink refused; the next call goes on there, whatever was added
  /// meanwhile, and leaves to the call after it what came to places behind.
  template <class Sink>
  bool write(const Sink& sink) {
    if (at_ == end_) {
      at_ = 0;
      end_ = used_;
    }
    for (; at_ < end_; ++at_) {
      entry& e = entries_[order_[at_]];
      if (e.count == 0) continue;
      if (!sink(Hash()(e.key), e.key, e.count)) return false;
      e.count = 0;
    }
    std::copy(order_.begin() + end_, order_.begin() + used_, order_.begin());
    used_ -= end_;
    at_ = end_ = 0;
    return true;
  }
  bool empty() const noexcept { return used_ == 0; }

private:
  struct entry {
    Key key{};
    std::uint64_t count = 0;  // 0: free
  };
  static constexpr unsigned k_shift = 32;  // bits of the hash that neither the owner nor its tables use first

  alignas(64) std::array<entry, Slots> entries_;
  // The places in the order in which they were taken. One that write() has freed may be taken once more before it ends.
  std::array<std::uint16_t, 2 * Slots> order_;
  std::size_t used_ = 0;
  std::size_t at_ = 0;  // of a write() that has not ended: [at_, end_) of order_ is left
  std::size_t end_ = 0;
};

}  // namespace shoal::detail
