// SPDX-License-Identifier: Apache-2.0
// The last victim that had something, first; then all others in turn, from a random one on.
#include "sched/steal_order.hpp"
#include "sched/steal_policies.hpp"

namespace shoal::sched {
namespace {

class sticky_policy final : public steal_policy {
public:
  explicit sticky_policy(steal_view& view) noexcept : view_(view) {}

  unsigned next() noexcept override { return again_ ? good_ : sweep_.next(view_); }

  void tried(unsigned victim, steal_result result) noexcept override {
    if (!again_) sweep_.tried(view_, result);
    if (result == steal_result::lost) return;  // it has something: once more
    again_ = result == steal_result::won;
    if (again_) good_ = victim;
  }

private:
  steal_view& view_;
  random_sweep sweep_;
  unsigned good_ = 0;
  bool again_ = false;
};

std::unique_ptr<steal_policy> make_sticky(steal_view& view, const std::vector<std::string>& arguments) {
  steal_arguments(arguments).end();
  return std::make_unique<sticky_policy>(view);
}

}  // namespace

extern const steal_policy_entry k_steal_sticky;
const steal_policy_entry k_steal_sticky{"sticky", "sticky", "the last victim that had something first, then as random",
                                        make_sticky};

}  // namespace shoal::sched
