// SPDX-License-Identifier: Apache-2.0
// Nearest first, and near ones more often: those of the same core or L2 NEAR times over, then those of the same L3,
// then the rest. With `masters` only the first worker of each package looks into other packages.
#include <algorithm>
#include <array>

#include "sched/steal_order.hpp"
#include "sched/steal_policies.hpp"

namespace shoal::sched {
namespace {

constexpr std::size_t k_levels = 3;

std::size_t level_of(worker_distance distance) {
  if (distance <= worker_distance::l2) return 0;
  return distance == worker_distance::l3 ? 1 : 2;
}

class nearest_policy final : public steal_policy {
public:
  nearest_policy(steal_view& view, const std::array<unsigned, k_levels>& tries, bool masters)
      : reached_(view.workers(), false) {
    const bool crosses = !masters || is_master(view);
    const unsigned home = view.package(view.self());
    for (std::size_t l = 0; l < k_levels; ++l) levels_[l].tries = tries[l];
    for (const unsigned victim : others_in_turn(view)) {
      if (!crosses && view.package(victim) != home) continue;
      reached_[victim] = true;
      levels_[level_of(view.distance(victim))].victims.push_back(victim);
    }
    for (level& l : levels_)
      std::ranges::stable_sort(l.victims, {}, [&view](unsigned victim) { return view.distance(victim); });
    start();
  }

  unsigned next() noexcept override { return levels_[level_].victims[at_]; }

  void tried(unsigned, steal_result result) noexcept override {
    if (result == steal_result::won) return start();
    if (++at_ < levels_[level_].victims.size()) return;
    at_ = 0;
    if (++sweeps_ < levels_[level_].tries) return;
    sweeps_ = 0;
    enter(level_ + 1);
  }

  bool reaches(unsigned victim) const noexcept override { return reached_[victim]; }

private:
  struct level {
    std::vector<unsigned> victims;
    unsigned tries = 1;
  };

  void start() noexcept {
    at_ = 0;
    sweeps_ = 0;
    enter(0);
  }
  // The first level from this one on that has victims, or of all.
  void enter(std::size_t from) noexcept {
    level_ = from % k_levels;
    for (std::size_t i = 0; i < k_levels && levels_[level_].victims.empty(); ++i) level_ = (level_ + 1) % k_levels;
  }

  std::array<level, k_levels> levels_;
  std::vector<bool> reached_;
  std::size_t level_ = 0;
  unsigned sweeps_ = 0;  // done over this level
  std::size_t at_ = 0;
};

// Tries per level of the thesis that the policy comes from.
constexpr std::array<unsigned, k_levels> k_preset{50, 3, 1};

std::unique_ptr<steal_policy> make_nearest(steal_view& view, const std::vector<std::string>& arguments) {
  steal_arguments given(arguments);
  std::array<unsigned, k_levels> tries = k_preset;
  tries[0] = given.number("NEAR", tries[0]);
  tries[1] = given.number("L3", tries[1]);
  tries[2] = given.number("BEYOND", tries[2]);
  const bool masters = given.word({"all", "masters"}) == 1;
  given.end();
  return std::make_unique<nearest_policy>(view, tries, masters);
}

}  // namespace

extern const steal_policy_entry k_steal_nearest;
const steal_policy_entry k_steal_nearest{
    "nearest", "nearest(NEAR,L3,BEYOND,all|masters)",
    "tries for those of the same core or L2 (50), the same L3 (3), and others (1); masters: only the first worker of "
    "each package crosses packages",
    make_nearest};

}  // namespace shoal::sched
