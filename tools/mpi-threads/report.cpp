// SPDX-License-Identifier: Apache-2.0
#include "tools/mpi-threads/report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>

namespace shoal::mpi_threads {

std::string report_json(const process_report& r, std::span<const char* const> names) {
  std::string entries;
  if (r.entries && r.entries->contended == 0)  // then there are no bias factors
    entries = " \"entries\": {\"contended\": 0},\n";
  else if (r.entries)
    entries = fmt::format(" \"entries\": {{\"contended\": {}, \"core\": {:.6g}, \"package\": {:.6g}}},\n",
                          r.entries->contended, r.entries->bias_core, r.entries->bias_package);
  std::string text = fmt::format(
      R"({{"library": "{}", "state": "{}", "level": "{}", "reason": "{}", "lock": "{}", "wait": "{}", "bound": {}, "spins": {}, "process": {},)"
      "\n"
      R"( "contended": {}, "won_again": {}, "fair": {:.6g}, "threads": [{}],)"
      "\n"
      R"( "dangling": {{"measured": {}, "samples": {}, "average": {:.6g}, "most": {}, "outstanding_average": {:.6g}}},)"
      "\n{} \"calls\": {{",
      r.mpi, r.state, r.level, r.reason, r.chosen.lock, r.chosen.wait, r.chosen.bound, r.chosen.spins, getpid(),
      r.sum.contended, r.sum.won_again, r.sum.fair, fmt::join(r.sum.by_thread, ", "), r.chosen.dangling,
      r.dangling_samples, r.dangling_average, r.dangling_most, r.outstanding_average, entries);
  const char* separator = "";
  for (std::size_t i = 0; i < r.sum.calls.size(); ++i) {
    const call_sum& c = r.sum.calls[i];
    if (c.calls == 0) continue;
    text += fmt::format(
        R"({}"{}": {{"calls": {}, "high": {}, "low": {}, "waits": {}, "waited_ns": {}, "longest_ns": {}}})", separator,
        names[i], c.calls, c.acquired[k_high], c.acquired[k_low], c.waits, c.waited_ns, c.longest_ns);
    separator = ",\n  ";
  }
  return text + "}}\n";
}

std::string report_table(const process_report& r, std::span<const char* const> names) {
  std::string text = fmt::format("MPI calls of process {} through the lock {} ({}); {} initialised {}\n", getpid(),
                                 r.chosen.lock, r.chosen.wait, r.mpi, r.level);
  text += fmt::format("{:<28}{:>12}{:>12}{:>12}{:>14}{:>14}\n", "function", "calls", "high", "low", "waited ms",
                      "longest us");
  for (std::size_t i = 0; i < r.sum.calls.size(); ++i) {
    const call_sum& c = r.sum.calls[i];
    if (c.calls == 0) continue;
    text +=
        fmt::format("{:<28}{:>12}{:>12}{:>12}{:>14.3f}{:>14.1f}\n", names[i], c.calls, c.acquired[k_high],
                    c.acquired[k_low], static_cast<double>(c.waited_ns) / 1e6, static_cast<double>(c.longest_ns) / 1e3);
  }
  text += fmt::format("bias {:.2f} over {} contended acquisitions by {} threads (1 is fair)\n", r.sum.bias(),
                      r.sum.contended, r.sum.by_thread.size());
  if (r.entries && r.entries->contended > 0)
    text +=
        fmt::format("calls that return at once: bias {:.2f}, of packages {:.2f}, over {} with other threads inside\n",
                    r.entries->bias_core, r.entries->bias_package, r.entries->contended);
  if (r.chosen.dangling)
    text += fmt::format("dangling requests: {:.1f} of {:.1f} on average, {} at most\n", r.dangling_average,
                        r.outstanding_average, r.dangling_most);
  return text;
}

void publish(const process_report& r, std::span<const char* const> names) {
  if (r.chosen.reports.empty()) {
    if (r.state == "finished") fmt::print(stderr, "{}", report_table(r, names));
    return;
  }
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  const std::string path = fmt::format("{}/{}.{}.json", r.chosen.reports, host.data(), getpid());
  const std::string text = report_json(r, names);
  // Written completely or not at all: the command may read while a process is killed.
  const std::string fresh = path + ".new";
  std::FILE* file = std::fopen(fresh.c_str(), "we");
  if (file == nullptr) return;  // another machine without this folder
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) == 0 && written) {
    std::rename(fresh.c_str(), path.c_str());
  } else {
    std::remove(fresh.c_str());
  }
}

}  // namespace shoal::mpi_threads
