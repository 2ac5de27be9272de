// SPDX-License-Identifier: Apache-2.0
// What several victim policies are made of: the other workers in a fixed order, a sweep over all of them from a random
// start, the fullest deque, and the arguments in parentheses, checked.
// Who may call: policies; what returns a vector, or throws, at set-up only.
// Shown by tests/unit/sched/steal_policy_test.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shoal/steal_policy.hpp"

namespace shoal::sched {

/// self + 1, self + 2, ... around to self - 1: no two workers begin with the same victim.
std::vector<unsigned> others_in_turn(const steal_view& view);

/// Whether this worker is the one of its package that looks into other packages.
inline bool is_master(const steal_view& view) noexcept {
  return view.first_in_package(view.package(view.self())) == view.self();
}

/// All but self are equally likely.
inline unsigned random_other(steal_view& view) noexcept {
  const auto at = static_cast<unsigned>(view.below(view.workers() - 1));
  return at < view.self() ? at : at + 1;
}

/// The fullest deque; of equals, the first after self.
unsigned fullest_other(const steal_view& view) noexcept;

/// Each other worker once, from a random one on; then from another random one. It stays where a race was lost, and
/// begins anew after a steal.
class random_sweep {
public:
  unsigned next(steal_view& view) noexcept {
    if (left_ == 0) {
      at_ = random_other(view);
      left_ = view.workers() - 1;
    }
    return at_;
  }
  void tried(const steal_view& view, steal_result result) noexcept {
    if (result == steal_result::won) left_ = 0;
    if (result != steal_result::empty || --left_ == 0) return;
    do at_ = at_ + 1 == view.workers() ? 0 : at_ + 1;
    while (at_ == view.self());
  }

private:
  unsigned at_ = 0;
  unsigned left_ = 0;
};

/// The arguments of a policy, taken one after the other; each may be left out at the end. Throws shoal::error.
class steal_arguments {
public:
  explicit steal_arguments(const std::vector<std::string>& given) noexcept : given_(given) {}

  unsigned number(std::string_view what, unsigned otherwise);
  /// The number of the word in `words`, 0 if left out.
  unsigned word(const std::vector<std::string_view>& words);
  /// Nothing may be left.
  void end() const;

private:
  const std::vector<std::string>& given_;
  std::size_t taken_ = 0;
};

}  // namespace shoal::sched
