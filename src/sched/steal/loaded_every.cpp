// SPDX-License-Identifier: Apache-2.0
// The fullest deque at every K-th attempt, since a scan is dear; random ones between.
#include "sched/steal_order.hpp"
#include "sched/steal_policies.hpp"

namespace shoal::sched {
namespace {

class loaded_every_policy final : public steal_policy {
public:
  loaded_every_policy(steal_view& view, unsigned every) noexcept : view_(view), every_(every) {}

  unsigned next() noexcept override {
    if (++attempts_ < every_) return random_other(view_);
    attempts_ = 0;
    return fullest_other(view_);
  }

private:
  steal_view& view_;
  const unsigned every_;
  unsigned attempts_ = 0;  // since the last scan
};

std::unique_ptr<steal_policy> make_loaded_every(steal_view& view, const std::vector<std::string>& arguments) {
  steal_arguments given(arguments);
  const unsigned every = given.number("K", 5);
  given.end();
  return std::make_unique<loaded_every_policy>(view, every);
}

}  // namespace

extern const steal_policy_entry k_steal_loaded_every;
const steal_policy_entry k_steal_loaded_every{"loaded_every", "loaded_every(K)",
                                              "the fullest deque at every K-th attempt (5), random ones between",
                                              make_loaded_every};

}  // namespace shoal::sched
