// SPDX-License-Identifier: Apache-2.0
// This machine in words, for people and for the "machine" object of measurements.
// Who may call: tools, at set-up. Never switches tasks. Reads files; what cannot be read is left out.
// Shown by tests/unit/machine/description_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "machine/topology.hpp"

namespace shoal::machine {

struct fact {
  std::string name;
  std::string text;
};

/// Host, kernel, processors, caches, what this process may use, memory, control group, pages.
std::vector<fact> describe_machine(const topology& processors);

}  // namespace shoal::machine
