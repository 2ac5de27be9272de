// SPDX-License-Identifier: Apache-2.0
// When the hang watch looks for tasks that wait for each other in a cycle. A look visits all stacks of a pool: where
// mutexes are contended, or suspicions are wrong, looks take a bounded share of the time, however many stacks there are.
// Who may call: the thread of the watch. Test: tests/unit/runtime/search_pace_test.cpp.
#pragma once

#include <algorithm>
#include <cstdint>

namespace shoal::runtime {

class search_pace {
public:
  /// `suspected`: a wait seemed to close a cycle since the last call. `awaited`: asks, when that is to be known, whether
  /// a task has waited for another one's mutex since it was asked last.
  template <class Awaited>
  bool is_due(std::uint64_t now_ns, bool suspected, const Awaited& awaited) {
    if (suspected) tries_ = k_tries;
    if (now_ns >= next_ns_ && awaited()) tries_ = std::max(tries_, 1);
    if (tries_ == 0 || now_ns < next_try_ns_) return false;
    --tries_;
    return true;
  }
  /// A look has ended and took `cost_ns` of processors' time.
  void looked(std::uint64_t now_ns, std::uint64_t cost_ns, bool found) noexcept {
    next_try_ns_ = now_ns + k_share_of_tries * cost_ns;
    next_ns_ = now_ns + std::max(k_search_ns, k_share * cost_ns);
    if (found) tries_ = 0;
  }

private:
  static constexpr int k_tries = 20;                            // after a suspicion, since a worker may be busy
  static constexpr std::uint64_t k_search_ns = 10'000'000'000;  // for cycles that no wait has found
  static constexpr std::uint64_t k_share = 500;                 // at most 1/500 of one processor's time
  static constexpr std::uint64_t k_share_of_tries = 20;

  int tries_ = 0;  // to come
  std::uint64_t next_ns_ = 0;
  std::uint64_t next_try_ns_ = 0;
};

}  // namespace shoal::runtime
