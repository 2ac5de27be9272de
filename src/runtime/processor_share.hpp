// SPDX-License-Identifier: Apache-2.0
// How many workers of each pool of this process begin tasks (sched::pool::set_active), looked at a few times per second:
// no more than the processor quota of the control groups allows when it has become smaller than it was at the first look,
// some 0.1 s after the pool was made; and where the setting `share_processors` is on, no more than a fair share of the
// processors beside all pools and jobs of this user that have it on, too. Each process says in a file of the user's runtime
// folder how many workers its pools could keep busy, and reads those of the others; each comes to the same division. A file
// whose process has ended is recognised by its lock, which is free, and removed.
//   processor_share share(processor_share::of_this_machine(executor));   ...  share.look(pools, now_ns);
// Who may call: one thread at a time, which does not run tasks. Blocks it for the reading of a few small files.
// Limits: processes that may use other processors than this one do not count; those of other users are not seen; a task that
// does not wait keeps its worker until it ends; a quota that leaves more than the processors of the process is none. While a
// child made by fork() lives, the file of a parent that was killed stays. Errors: one warning; without a usable folder all
// workers begin tasks, and it is tried again after some seconds.
// Tests: tests/unit/runtime/processor_share_test.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "machine/executor.hpp"
#include "machine/file.hpp"
#include "sched/pool.hpp"

namespace shoal::runtime {

/// Divides: nobody gets more than it wants, who wants any gets at least one, and else two shares differ by at most one.
std::vector<unsigned> fair_shares(unsigned processors, std::span<const unsigned> wanted);

class processor_share {
public:
  struct surroundings {
    std::function<double()> read_quota;   // in processors; infinity: none
    unsigned processors = 1;              // that the process may use
    std::string processor_list;           // which, as the system writes them: only processes with the same list share
    std::function<std::string()> folder;  // of the files; called when the first one is needed
  };
  static surroundings of_this_machine(machine::executor& by);

  explicit processor_share(surroundings where) : where_(std::move(where)) {}
  processor_share(const processor_share&) = delete;
  processor_share& operator=(const processor_share&) = delete;
  ~processor_share() { withdraw(); }

  /// `pools`: all of the process, at any time the same ones in the same order, but for new ones and those that have gone.
  /// Returns after how many nanoseconds to look again.
  std::int64_t look(std::span<sched::pool* const> pools, std::uint64_t now_ns);

private:
  struct known_pool {
    double quota_at_first = 0;
    unsigned wanted = 0;  // falls slowly
  };
  struct neighbour {
    std::string file;
    std::vector<unsigned> wanted;
  };

  unsigned by_quota(const sched::pool& p, known_pool& known) const;
  void divide(std::span<sched::pool* const> pools, std::vector<unsigned>& most);
  void withdraw() noexcept;
  void publish(const std::vector<unsigned>& wanted);
  std::vector<neighbour> read_neighbours() const;

  surroundings where_;
  std::map<std::uint64_t, known_pool> known_;  // by the pool's number
  double quota_ = 0;
  std::uint64_t read_quota_at_ns_ = 0;   // 0: at once
  std::uint64_t share_again_at_ns_ = 0;  // the folder cannot be used until then
  bool warned_ = false;
  std::string folder_;
  machine::file own_;  // locked while it exists
  std::string published_;
};

}  // namespace shoal::runtime
