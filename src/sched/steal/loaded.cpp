// SPDX-License-Identifier: Apache-2.0
// The fullest deque, found by a scan at each attempt.
#include "sched/steal_order.hpp"
#include "sched/steal_policies.hpp"

namespace shoal::sched {
namespace {

class loaded_policy final : public steal_policy {
public:
  explicit loaded_policy(steal_view& view) noexcept : view_(view) {}
  unsigned next() noexcept override { return fullest_other(view_); }
  unsigned round() const noexcept override { return 1; }  // the scan has seen all

private:
  steal_view& view_;
};

std::unique_ptr<steal_policy> make_loaded(steal_view& view, const std::vector<std::string>& arguments) {
  steal_arguments(arguments).end();
  return std::make_unique<loaded_policy>(view);
}

}  // namespace

extern const steal_policy_entry k_steal_loaded;
const steal_policy_entry k_steal_loaded{"loaded", "loaded", "the fullest deque, by a scan at each attempt",
                                        make_loaded};

}  // namespace shoal::sched
