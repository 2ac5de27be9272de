// SPDX-License-Identifier: Apache-2.0
// Where the ranks of an MPI program spent their time: as a table, a JSON object or a picture; and as text that a node
// sends to another.
// Who may call: anyone; plain data, and functions of this data.
// Guarantees: the seconds of a rank are compute + copy + library + wait; ready is a part of wait.
// Tests: tests/unit/trace/ranks_profile_test.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::trace {

struct rank_wait {
  std::string function;
  std::uint64_t count = 0;
  double seconds = 0;
  double ready_seconds = 0;  // of these: it could have gone on, but others ran on its worker
};

/// What one rank has sent to another.
struct rank_messages {
  int to = 0;
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};

struct rank_row {
  int rank = 0;
  double compute_seconds = 0;  // in the program's own code
  double copy_seconds = 0;     // of messages
  double library_seconds = 0;  // the rest of MPI
  double wait_seconds = 0;
  double ready_seconds = 0;
  std::uint64_t calls = 0;
  std::uint64_t copied_bytes = 0;
  std::uint64_t longest_receives = 0;  // that waited for a message at a time
  std::uint64_t longest_messages = 0;  // that waited to be received
  std::uint64_t stack_bytes = 0;
  std::vector<rank_wait> waits;
  std::vector<rank_messages> sent;

  double seconds() const noexcept { return compute_seconds + copy_seconds + library_seconds + wait_seconds; }
};

struct rank_process {
  unsigned ranks = 0;
  unsigned workers = 0;
  std::uint64_t bytes_before = 0;  // of memory, before its ranks began
  std::uint64_t bytes_at_most = 0;
  // Of a copy of the program; 0: not known.
  std::uint64_t copy_bytes = 0;    // its own, at most
  std::uint64_t shared_bytes = 0;  // that all copies share
  unsigned copy_mappings = 0;
};

struct ranks_profile {
  std::vector<rank_row> ranks;
  std::vector<rank_process> processes;
};

std::string ranks_text(const ranks_profile& p);
/// Adds what `text`, of ranks_text(), says.
void add_ranks_text(ranks_profile& p, std::string_view text);

std::string ranks_table(const ranks_profile& p);
std::string ranks_json(const ranks_profile& p);
/// SVG.
std::string ranks_picture(const ranks_profile& p);

}  // namespace shoal::trace
