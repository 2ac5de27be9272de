// SPDX-License-Identifier: Apache-2.0
// Loops whose parts move to nodes that have nothing to do: parallel_for(anywhere, ...). A part is a task of an
// anywhere_group; it runs a chunk after the other, and begins its second half as another part whenever no task waits on
// its worker: so there is always something to take, and parts that nobody takes cost one task per halving.
// Who may call: tasks, through shoal/parallel_for.hpp. It switches as the body does, and at the end.
// Guarantees: those of parallel_for.hpp. Chunks follow measured time unless a simple_partitioner gives their length.
// Shown by tests/cluster/anywhere_test.cpp.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "shoal/anywhere.hpp"
#include "shoal/detail/loop_run.hpp"
#include "shoal/partition.hpp"

namespace shoal::detail {

/// The length of the next chunk.
class chunk_pace {
public:
  /// `fixed`: the length; 0: as long as it takes k_shortest_ns to k_longest_ns.
  explicit chunk_pace(std::uint64_t fixed) noexcept : adapts_(fixed == 0), length_(std::max<std::uint64_t>(fixed, 1)) {}
  std::uint64_t length() const noexcept { return length_; }
  void begin() noexcept {
    if (adapts_) began_ns_ = rough_now_ns();
  }
  void end() noexcept {
    if (adapts_) follow(rough_now_ns() - began_ns_);
  }
  void follow(std::uint64_t took_ns) noexcept {
    if (took_ns < k_shortest_ns)
      length_ = std::min(2 * length_, k_most);
    else if (took_ns > k_longest_ns)
      length_ = std::max<std::uint64_t>(length_ / 2, 1);
  }

  static constexpr std::uint64_t k_shortest_ns = 2'000;
  static constexpr std::uint64_t k_longest_ns = 8'000;
  static constexpr std::uint64_t k_most = 1 << 14;

private:
  static std::uint64_t rough_now_ns() noexcept;

  bool adapts_;
  std::uint64_t length_;
  std::uint64_t began_ns_ = 0;
};

template <class Index, class Body>
struct anywhere_part {
  Body body;
  numbers<Index> index;
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t grain;  // 0: chunks follow measured time

  void operator()(anywhere_tasks& tasks) const {
    chunk_pace pace(grain);
    std::uint64_t at = begin;
    std::uint64_t last = end;
    while (at < last && !tasks.failed() && !stop_requested()) {
      worker_base& w = *t_worker;
      const std::size_t enough = work_is_wanted(w) ? 2 : 1;  // one to take for a sibling, one for another node
      if (last - at > std::max<std::uint64_t>(grain, 1) && w.tasks.size_estimate() < enough) {
        const std::uint64_t middle = at + (last - at + 1) / 2;
        tasks.run(anywhere_part{body, index, middle, last, grain});
        last = middle;
      }
      const std::uint64_t stop = at + std::min(pace.length(), last - at);
      pace.begin();
      if constexpr (std::invocable<const Body&, Index>) {
        for (; at < stop; ++at) body(index.at(at));
      } else {
        const auto from = static_cast<std::uint64_t>(index.first);
        body(range1d(from + at, from + stop));
        at = stop;
      }
      pace.end();
      take_turn(*t_worker);
    }
  }
};

template <class T>
concept anywhere_option = std::same_as<std::remove_cvref_t<T>, auto_partitioner> ||
    std::same_as<std::remove_cvref_t<T>, simple_partitioner> || std::same_as<std::remove_cvref_t<T>, in_scope_t>;

template <class Index, class Body>
void run_for_anywhere(const number_range<Index>& range, const Body& body, const loop_plan& plan) {
  check_capture(body);
  if (range.empty() || stop_requested_of(plan.stop, worker_here().scope)) return;
  if constexpr (!std::invocable<const Body&, Index> && std::is_signed_v<Index>)
    SHOAL_ASSERT(!(range.begin < Index{}),
                 "a body that takes parts of a range takes them from numbers that are not negative");
  anywhere_group group = plan.stop != nullptr ? anywhere_group(in_scope) : anywhere_group();
  group.run(anywhere_part<Index, Body>{
      body, {range.begin}, 0, range.size(), std::max(plan.grain, range.grain > 1 ? range.grain : 0)});
  group.wait();
}

}  // namespace shoal::detail
