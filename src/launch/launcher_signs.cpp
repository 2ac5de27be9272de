// SPDX-License-Identifier: Apache-2.0
#include "launch/launcher_signs.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "launch/meeting.hpp"
#include "machine/environment.hpp"
#include "machine/process.hpp"

namespace shoal::launch {
namespace {

constexpr const char* k_signs[] = {k_hub_variable, "PMIX_RANK", "PMI_RANK"};

bool somebody_started_us() {
  return std::any_of(std::begin(k_signs), std::end(k_signs), [](const char* name) { return std::getenv(name); });
}

}  // namespace

bool seems_gathered() {
  const char* taken = std::getenv(k_taken_variable);
  return somebody_started_us() && (taken == nullptr || std::atoi(taken) == machine::own_pid());
}

void take_gathered_place() { machine::set_variable(k_taken_variable, std::to_string(machine::own_pid())); }

bool gathered_place_taken() {
  const char* taken = std::getenv(k_taken_variable);
  return taken != nullptr && std::atoi(taken) == machine::own_pid();
}

}  // namespace shoal::launch
