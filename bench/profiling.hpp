// SPDX-License-Identifier: Apache-2.0
// --profile and related options. For commands that run as jobs they are settings of the job. For benchmarks with their
// own pools the profiles of all measurements are concatenated, as if there had been one pool.
// Who may call: the command's main thread; add() also the thread that runs a pool for it. Test:
// tests/unit/bench/profiling_test.cpp.
#pragma once

#include <optional>
#include <string>

#include "runtime/profile_report.hpp"

namespace CLI {
class App;
}
namespace shoal::base {
class settings;
}

namespace shoal::bench {

struct profile_choice {
  bool on = false;
  std::string json;
  std::string picture;
  double serial_seconds = 0;

  /// The given options override the environment and files.
  void apply(base::settings& s) const;
};

void add_profile_options(CLI::App& app, profile_choice& choice);

/// Appends `next`, a later profile of a pool of the same size.
void append(profile& to, const profile& next);

class profile_collector {
public:
  /// Checks that the files can be written.
  explicit profile_collector(const profile_choice& choice);

  bool on() const noexcept { return wish_.on; }
  profile_options options() const { return wish_.options(1); }
  void add(const profile& p);
  /// Prints and writes the profile, if there is one.
  void finish() const;

private:
  runtime::profile_wish wish_;
  runtime::profile_files files_;
  std::optional<profile> all_;
};

}  // namespace shoal::bench
