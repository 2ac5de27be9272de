// SPDX-License-Identifier: Apache-2.0
// All others in turn, from a random one on.
#include "sched/steal_order.hpp"
#include "sched/steal_policies.hpp"

namespace shoal::sched {
namespace {

class random_policy final : public steal_policy {
public:
  explicit random_policy(steal_view& view) noexcept : view_(view) {}
  unsigned next() noexcept override { return sweep_.next(view_); }
  void tried(unsigned, steal_result result) noexcept override { sweep_.tried(view_, result); }

private:
  steal_view& view_;
  random_sweep sweep_;
};

std::unique_ptr<steal_policy> make_random(steal_view& view, const std::vector<std::string>& arguments) {
  steal_arguments(arguments).end();
  return std::make_unique<random_policy>(view);
}

}  // namespace

extern const steal_policy_entry k_steal_random;
const steal_policy_entry k_steal_random{"random", "random", "all others in turn, from a random one on", make_random};

}  // namespace shoal::sched
