// SPDX-License-Identifier: Apache-2.0
// A collective operation whose members are in several processes: the members of each are carried out together, and the
// first member of each process, its leader, exchanges with the other leaders, over the algorithms of src/collectives.
// Who may call: a task on the worker of the last member that has come. It does not wait: the exchange is a task of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "rank/execute.hpp"

namespace shoal::rank {

void exchange_between_processes(communicator& in, std::uint64_t sequence, std::vector<collective_call*> calls);

/// For this and collectives.cpp: carries out calls that are all here; the error class. Tells the ranks.
int execute_here(const communicator& in, collective_calls calls) noexcept;
void complete_all(collective_calls calls, int error) noexcept;

}  // namespace shoal::rank
