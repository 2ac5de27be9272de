// SPDX-License-Identifier: Apache-2.0
// What a worker has begun with a combined_updates and not written to streams yet: a table with a place for an element's
// index, in which updates of the same element become one. An update whose place another element has sends that one off.
// Who may call: tasks on the worker; begin() switches only when buffers are full, and then has no update in its hands.
// Guarantees: an update is in one place at any moment, so whichever task writes what is withheld, for whatever wait,
// nothing is lost or done twice. A wait for asynchronous operations writes it first (port.hpp, withheld). Complexity:
// O(1); a wait goes through all places, 2048, where anything is withheld.
// Shown by tests/cluster/combined_test.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "shoal/detail/array_access.hpp"
#include "shoal/detail/container.hpp"

namespace shoal::detail {

template <class T, verb V>
class withheld_updates final : public withheld {
  static_assert(V == verb::add || V == verb::min || V == verb::max);

public:
  explicit withheld_updates(const array_layout& layout) : layout_(layout) {
    write = [](withheld& w, port& p) noexcept { return static_cast<withheld_updates&>(w).write_all(p); };
  }
  ~withheld_updates() {
    SHOAL_ASSERT(!listed, "a combined_updates is destroyed while tasks still update by it: let them end first");
  }

  void begin(port& p, std::uint64_t i, T value) {
    {
      const tsan_ignore_scope ignore;
      check_index(p, layout_, i);
      place& at = places_[place_of(i)];
      if (at.index == i) {
        ++p.async_issued;
        at.value = combined(at.value, value);
        return;
      }
      if (at.index == k_free || send(p, at)) {
        if (at.index == k_free) withhold(p, *this);
        ++p.async_issued;
        at = {i, value};
        return;
      }
    }
    begin_access<V, T>(layout_, i, value, nullptr, T{});  // waits for room
  }

private:
  static constexpr std::uint64_t k_free = ~std::uint64_t{0};
  static constexpr std::size_t k_most_words = 2;
  static constexpr unsigned k_bits = 11;
  struct place {
    std::uint64_t index = k_free;
    T value{};
  };

  static std::size_t place_of(std::uint64_t i) noexcept { return (i * 0x9e3779b97f4a7c15U) >> (64 - k_bits); }
  static T combined(T a, T b) noexcept {
    if constexpr (V == verb::add && std::is_integral_v<T>)  // wraps, as in memory
      return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    else if constexpr (V == verb::add)
      return a + b;
    if constexpr (V == verb::min) return b < a ? b : a;
    return a < b ? b : a;
  }

  // False: there is no room for it now.
  bool send(port& p, const place& one) noexcept {
    const std::uint32_t owner = layout_.template locate<T>(one.index).node;
    if (p.bases[owner] == nullptr && !try_room_for(p, owner, k_most_words)) return false;
    begin_access<V, T>(layout_, one.index, one.value, nullptr, T{});
    return true;
  }

  std::uint32_t write_all(port& p) noexcept {
    for (; next_ < places_.size(); ++next_) {
      place& at = places_[next_];
      if (at.index == k_free) continue;
      if (!send(p, at)) return layout_.template locate<T>(at.index).node;
      at.index = k_free;
    }
    next_ = 0;
    return k_all_written;
  }

  const array_layout layout_;
  std::array<place, std::size_t{1} << k_bits> places_;
  std::size_t next_ = 0;  // of write_all(), where it had no room
};

/// Those of a node's workers: each makes its own at its first use.
template <class T, verb V>
class updates_of_workers {
public:
  explicit updates_of_workers(const array_layout& layout) : layout_(layout), by_worker_(worker_here().siblings) {}

  withheld_updates<T, V>& of(const worker_base& w) {
    const tsan_ignore_scope ignore;  // all tasks of the worker use it in turn
    std::unique_ptr<withheld_updates<T, V>>& own = by_worker_[w.index];
    if (own == nullptr) [[unlikely]]
      own = std::make_unique<withheld_updates<T, V>>(layout_);
    return *own;
  }

private:
  const array_layout layout_;
  std::vector<std::unique_ptr<withheld_updates<T, V>>> by_worker_;
};

}  // namespace shoal::detail
