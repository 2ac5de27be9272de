// SPDX-License-Identifier: Apache-2.0
// What a simulated processor takes for each kind of event, in picoseconds. The defaults are of the order of what this
// library takes on a processor of 3 GHz, and assumptions, not measurements; a program's own computing is charged by
// turns and iterations.
// Who may call: anyone. Shown by tests/unit/net/sim_settings_test.cpp.
#pragma once

#include <cstdint>
#include <string_view>

namespace shoal::net {

struct sim_costs {
  std::uint64_t turn_ps = 40'000;           // a task, a child that runs inline, a chunk of a loop
  std::uint64_t iteration_ps = 5'000;       // of a loop
  std::uint64_t poll_ps = 50'000;           // a look at what has arrived
  std::uint64_t send_ps = 250'000;          // handing a buffer to the network card
  std::uint64_t receive_ps = 250'000;       // taking one
  std::uint64_t write_ps = 2'000;           // a word of a command, where it is written
  std::uint64_t execute_ps = 3'000;         // and where it is executed
  std::uint64_t copy_ps = 500;              // and each time it is copied, with its block
  std::uint64_t block_ps = 50'000;          // a block that is copied, however small
  std::uint64_t clock_ps = 20'000;          // reading the clock
  std::uint64_t yield_ps = 500'000;         // giving the processor to nobody
  std::uint64_t wait_ps = 300'000;          // falling asleep
  std::uint64_t wake_ps = 300'000;          // waking a sleeper: the waker's part
  std::uint64_t wake_delay_ps = 1'000'000;  // until the sleeper runs
};

/// The defaults, changed by NAME=TIME joined by commas, as in "iteration=20,send=300ns". Names as above without _ps;
/// a number without a unit is nanoseconds. Throws shoal::error that says what is wrong.
sim_costs parse_sim_costs(std::string_view text);

}  // namespace shoal::net
