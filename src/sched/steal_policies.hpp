// SPDX-License-Identifier: Apache-2.0
// The victim policies by name: those of the folder steal/, whose table the build makes from the files there, and those
// that the program has added (the one list of this process, guarded by a lock).
// A policy is written NAME or NAME(ARGUMENT,...).
// Who may call: any thread, at set-up. Never switches tasks. Unknown names and bad arguments are a shoal::error that
// says what there is. Shown by tests/unit/sched/steal_policies_test.cpp.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "shoal/steal_policy.hpp"

namespace shoal::sched {

/// What a file steal/NAME.cpp defines, as k_steal_NAME.
struct steal_policy_entry {
  std::string_view name;
  std::string_view form;  // with its arguments: "loaded_every(K)"
  std::string_view help;
  std::unique_ptr<steal_policy> (*make)(steal_view& view, const std::vector<std::string>& arguments);
};

/// Makes the policy of one worker.
using steal_policy_factory = std::function<std::unique_ptr<steal_policy>(steal_view&)>;

constexpr std::string_view k_standard_steal_policy = "random";

/// Checks name and arguments. The factory does not change when policies are added later.
steal_policy_factory find_steal_policy(std::string_view text);

struct steal_policy_line {
  std::string form;
  std::string help;
};
/// By name.
std::vector<steal_policy_line> known_steal_policies();

}  // namespace shoal::sched
