// SPDX-License-Identifier: Apache-2.0
// Prints the profile of a node's workers to standard error, and writes the files that the settings name.
// Who may call: one thread outside of tasks. Errors: shoal::error names the file that cannot be written.
// Shown by tests/cluster/profile_test.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/settings.hpp"
#include "runtime/trace_recording.hpp"
#include "shoal/profile.hpp"

namespace shoal::runtime {

struct profile_wish {
  bool on = false;
  std::string json;  // file names; empty: none
  std::string picture;
  double interval_seconds = 0.005;
  double serial_seconds = 0;  // 0: not known
  trace_wish trace;

  /// Of several nodes none can be compared with the serial run.
  profile_options options(std::uint32_t nodes) const;
};

extern const base::setting_table k_profile_settings;
profile_wish read_profile_wish(const base::settings& s);

/// Writes a whole file; `what` it is for the message, if it cannot be written: "the profile".
void write_whole_file(const std::string& name, std::string_view what, const std::string& text);
/// `name` with a number before the last dot, or at the end.
std::string numbered_file(const std::string& name, std::uint64_t number);
/// The file of one node: `name`, and of several nodes with the number of the node.
std::string profile_file(const std::string& name, std::uint32_t node, std::uint32_t nodes);

/// Where one profile goes; empty: nowhere.
struct profile_files {
  std::string json;
  std::string picture;
};

/// At start, so that nobody computes for an hour first. Makes the files, empty. Each pool and job of this process has
/// its own: the second one that wishes for p.json gets p.2.json.
profile_files claim_profile_files(const profile_wish& wish, std::uint32_t node, std::uint32_t nodes);

void report_profile(const profile& p, const profile_files& files, std::uint32_t node, std::uint32_t nodes);

}  // namespace shoal::runtime
