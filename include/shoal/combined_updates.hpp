// SPDX-License-Identifier: Apache-2.0
// Updates of an array's elements that are combined where they begin: adds, minima or maxima of the same element become
// one before they travel. For updates of which many hit few elements: degrees, histograms, ranks of popular pages.
//   shoal::global_array<std::uint64_t> counts(n);
//   const shoal::combined_updates<std::uint64_t> sums(counts);
//   shoal::parallel_for(shoal::everywhere, m, [s = sums.ref()](std::uint64_t i) { s.async(bucket(i), 1); });
// Who may call: tasks; async() switches only when buffers are full; in handlers it is the array's own async verb.
// Guarantees: those of async_add, async_min, async_max: complete by wait(), or the end of the task or loop; not earlier,
// and who reads the element before may see nothing of it. Sums of floating-point numbers depend on what met where.
// Complexity: O(1); a table of 2048 elements per worker that uses it. Elements that are mapped here are not combined.
// Errors: the constructor throws shoal::error (out_of_memory). The array outlives it.
// Source: combining of GUPS and histogram updates, as in Maley and DeVinney's Conveyors (2019), section 5.
// Shown by tests/cluster/combined_test.cpp.
#pragma once

#include <cstdint>
#include <utility>

#include "shoal/array.hpp"
#include "shoal/detail/settled_end.hpp"
#include "shoal/detail/withheld_updates.hpp"
#include "shoal/node_local.hpp"

namespace shoal {

enum class combine : std::uint8_t { add, min, max };

namespace detail {
constexpr verb verb_of(combine c) noexcept {
  return c == combine::add ? verb::add : c == combine::min ? verb::min : verb::max;
}
}  // namespace detail

/// The handle: trivially copyable; valid while the combined_updates exists.
template <class T, combine Op = combine::add>
class combined_ref {
  static constexpr detail::verb k_verb = detail::verb_of(Op);

public:
  combined_ref() = default;
  combined_ref(const array_ref<T>& array, node_local_ref<detail::updates_of_workers<T, k_verb>> workers) noexcept
      : array_(array), workers_(workers) {}

  /// Adds `value` to element i, or makes it the smaller or larger of the two.
  void async(std::uint64_t i, T value) const {
    detail::worker_base& w = detail::worker_here();
    detail::port& p = *w.port;
    if (detail::is_for_handlers(p) || p.bases[array_.owner(i)] != nullptr)
      return detail::begin_access<k_verb, T>(array_.layout(), i, value, nullptr, T{});
    workers_->of(w).begin(p, i, value);
  }
  const array_ref<T>& array() const noexcept { return array_; }

private:
  array_ref<T> array_;
  node_local_ref<detail::updates_of_workers<T, k_verb>> workers_;
};

/// Owns the tables of all workers; move-only. Destruction waits for what tasks have begun.
template <class T, combine Op = combine::add>
class combined_updates {
  static_assert(detail::element_type<T>, "elements that are combined are integers, float or double");

public:
  using ref_type = combined_ref<T, Op>;

  /// Switches tasks.
  explicit combined_updates(const array_ref<T>& array) : workers_(array.layout()), ref_(array, workers_.ref()) {}
  combined_updates(combined_updates&&) noexcept = default;
  combined_updates& operator=(combined_updates&& other) noexcept {
    if (this == &other) return *this;
    end_ = std::move(other.end_);  // first: it waits for what is on its way
    workers_ = std::move(other.workers_);
    ref_ = other.ref_;
    return *this;
  }

  ref_type ref() const noexcept { return ref_; }
  operator ref_type() const noexcept { return ref_; }
  const ref_type* operator->() const noexcept { return &ref_; }

private:
  node_local<detail::updates_of_workers<T, detail::verb_of(Op)>> workers_;
  ref_type ref_;
  detail::settled_end end_;  // the last member: it ends first
};

}  // namespace shoal
