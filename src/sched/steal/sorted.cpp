// SPDX-License-Identifier: Apache-2.0
// Down a list of the others by load, which is made anew every REFRESH attempts. After a steal policy1 stays with that
// victim, policy2 goes back to the head. With `package` a worker looks at its own package only, its first worker at
// all.
#include <algorithm>

#include "sched/steal_order.hpp"
#include "sched/steal_policies.hpp"

namespace shoal::sched {
namespace {

class sorted_policy final : public steal_policy {
public:
  sorted_policy(steal_view& view, unsigned refresh, bool back_to_head, bool package_only)
      : view_(view), refresh_(refresh), back_to_head_(back_to_head), reached_(view.workers(), false) {
    const unsigned home = view.package(view.self());
    for (const unsigned victim : others_in_turn(view)) {
      if (package_only && !is_master(view) && view.package(victim) != home) continue;
      reached_[victim] = true;
      list_.push_back({victim, static_cast<unsigned>(list_.size()), 0});
    }
  }

  unsigned next() noexcept override {
    if (attempts_ == refresh_) read_loads();
    ++attempts_;
    return list_[at_].victim;
  }

  void tried(unsigned, steal_result result) noexcept override {
    if (result != steal_result::won)
      at_ = at_ + 1 == list_.size() ? 0 : at_ + 1;
    else if (back_to_head_)
      at_ = 0;
  }

  bool reaches(unsigned victim) const noexcept override { return reached_[victim]; }

private:
  struct line {
    unsigned victim;
    unsigned turn;  // among equals
    std::size_t load;
  };

  void read_loads() noexcept {
    for (line& l : list_) l.load = view_.load(l.victim);
    std::ranges::sort(
        list_, [](const line& a, const line& b) { return a.load != b.load ? a.load > b.load : a.turn < b.turn; });
    at_ = 0;
    attempts_ = 0;
  }

  steal_view& view_;
  const unsigned refresh_;
  const bool back_to_head_;
  std::vector<bool> reached_;
  std::vector<line> list_;
  std::size_t at_ = 0;
  unsigned attempts_ = refresh_;  // since the loads were read
};

std::unique_ptr<steal_policy> make_sorted(steal_view& view, const std::vector<std::string>& arguments) {
  steal_arguments given(arguments);
  const unsigned refresh = given.number("REFRESH", 10);
  const bool back_to_head = given.word({"policy1", "policy2"}) == 1;
  const bool package_only = given.word({"global", "package"}) == 1;
  given.end();
  return std::make_unique<sorted_policy>(view, refresh, back_to_head, package_only);
}

}  // namespace

extern const steal_policy_entry k_steal_sorted;
const steal_policy_entry k_steal_sorted{
    "sorted", "sorted(REFRESH,policy1|policy2,global|package)",
    "down a list by load, read every REFRESH (10) attempts; after a steal the same victim (policy1) or the head "
    "(policy2); package: only its first worker looks into others",
    make_sorted};

}  // namespace shoal::sched
