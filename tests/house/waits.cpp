// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "checks.hpp"

namespace shoal::house {
namespace {

// What measures time, waits or starts threads past the executor (src/machine/executor.hpp).
constexpr std::string_view k_names[] = {"std::this_thread",
                                        "std::thread",
                                        "std::jthread",
                                        "std::async",
                                        "std::condition_variable",
                                        "futex_wait",
                                        "futex_wake",
                                        "yield_processor",
                                        "base::now_ns",
                                        "steady_clock",
                                        "system_clock",
                                        "high_resolution_clock",
                                        "clock_gettime",
                                        "gettimeofday",
                                        "nanosleep",
                                        "clock_nanosleep",
                                        "usleep",
                                        "sched_yield",
                                        "machine::wait_any",
                                        "poll_for",
                                        "pthread_create",
                                        "machine::threads"};

// Where they may be named all the same.
struct exception {
  std::string_view place;  // a file, or a folder
  std::string_view reason;
};
constexpr exception k_exceptions[] = {
    {"src/machine", "it implements the executor"},
    {"src/base", "it implements the clock, and stamps log lines"},
    {"src/launch", "it brings real processes together; a job on virtual time is one process"},
    {"src/net/transports/ucx", "a plugin, which sees net/wire.hpp alone; it waits while it connects and ends"},
    {"src/net/transports/mpi", "a plugin, which sees net/wire.hpp alone; it waits while it connects and ends"},
    {"src/net/transports/sim", "it implements an executor"},
    {"src/locks/thread_wait.cpp", "locks of threads are used outside of any runtime, too"},
    {"src/locks/lock_meter.cpp", "it measures real time"},
    {"src/sched/pool.hpp", "the default of an option"},
    {"src/sched/loop.cpp", "it measures the real time that iterations take"},
    {"src/sched/sync.cpp", "for a thread that is no worker"},
    {"src/net/message_transport.hpp", "the default of an option"},
    {"src/net/ring_world.hpp", "the default of an option"},
    {"src/noise", "it measures this machine, in real time, on threads of its own"},
    {"src/rank/abi/environment.cpp", "the time of MPI_Wtime for a thread that is no worker"},
    {"src/runtime/config.hpp", "the default of an option"},
    {"src/runtime/peer_watch.cpp", "looks at descriptors of real processes, without waiting"},
};

bool is_part_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool names(std::string_view line, std::string_view name) {
  line = line.substr(0, line.find("//"));
  for (std::size_t at = line.find(name); at != std::string_view::npos; at = line.find(name, at + 1)) {
    const std::size_t after = at + name.size();
    if (at > 0 && is_part_of_name(line[at - 1])) continue;
    if (after < line.size() && is_part_of_name(line[after])) continue;
    return true;
  }
  return false;
}

bool is_exempt(const source_file& file) {
  return std::ranges::any_of(k_exceptions,
                             [&](const exception& e) { return file.path == e.place || file.under(e.place); });
}

}  // namespace

findings check_waits(const tree& t) {
  findings found;
  for (const source_file& file : t.files()) {
    if (!file.has_suffix({".hpp", ".cpp"}) || is_exempt(file)) continue;
    if (!file.under("src") && !file.under("include")) continue;
    for (std::size_t i = 0; i < file.lines.size(); ++i)
      for (const std::string_view name : k_names)
        if (names(file.lines[i], name))
          found.failures.push_back(file.path + ":" + std::to_string(i + 1) + ": " + std::string(name) +
                                   " goes past the executor; use its wait(), yield(), now_ns() or start_thread()");
  }
  return found;
}

}  // namespace shoal::house
