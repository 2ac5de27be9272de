// SPDX-License-Identifier: Apache-2.0
// A count of changes that the tasks of all nodes share, for the verbs of arrays that report them: each worker counts its
// own, without messages or atomics, and take() adds up.
//   shoal::change_count changed;
//   do
//     parallel_for(owners_of(edges), edges.size(), [e = edges.ref(), label, c = changed.ref()](std::uint64_t i) {
//       label.async_min(e.get(i).to, label_of(e.get(i).from), c);
//     });
//   while (changed.take() != 0);
// Who may call: tasks. Construction, destruction and take() switch tasks; nothing else does.
// Guarantees: what a loop has changed is counted when the loop has ended. O(nodes) messages for take(), in one round.
// Shown by tests/cluster/array_update_test.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "shoal/node_local.hpp"
#include "shoal/parallel_for.hpp"

namespace shoal {

namespace detail {
/// A node's counts, one for each worker.
class worker_counts {
public:
  worker_counts() : counts_(worker_here().siblings) {}
  std::uint64_t* here() noexcept { return &counts_[worker_here().index].value; }
  std::uint64_t take() noexcept {
    std::uint64_t sum = 0;
    for (count& c : counts_) sum += std::exchange(c.value, 0);
    return sum;
  }

private:
  struct alignas(64) count {
    std::uint64_t value = 0;
  };
  std::vector<count> counts_;
};
}  // namespace detail

/// The handle: trivially copyable; valid while the count exists. It converts to the pointer that verbs take.
class change_count_ref {
public:
  change_count_ref() = default;
  explicit change_count_ref(node_local_ref<detail::worker_counts> counts) noexcept : counts_(counts) {}

  /// The calling worker's count. It changes until the task or loop waits for what it began.
  operator std::uint64_t*() const noexcept { return counts_->here(); }
  /// One change more, found by the program itself.
  void count() const noexcept { ++*counts_->here(); }

private:
  node_local_ref<detail::worker_counts> counts_;
};

/// Owns the counts of all nodes; move-only.
class change_count {
public:
  change_count_ref ref() const noexcept { return change_count_ref(counts_.ref()); }
  operator change_count_ref() const noexcept { return ref(); }

  /// The changes since the last time, on all nodes; the counts are 0 then. Nothing that counts may be in flight.
  std::uint64_t take() {
    return parallel_reduce(
        everywhere, node_count(), std::uint64_t{0},
        [c = counts_.ref()](std::uint32_t) -> std::uint64_t { return c->take(); }, std::plus<>());
  }

private:
  node_local<detail::worker_counts> counts_;
};

}  // namespace shoal
