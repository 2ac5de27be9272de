// SPDX-License-Identifier: Apache-2.0
// --profile and its companions: for commands that run as jobs they are settings of the job; for benchmarks that make
// pools of their own the profiles of all measurements are put one behind the other, as if there had been one pool.
// Who may call: the command's main thread; add() also whoever runs a pool for it. Shown by
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

  /// What was given goes before what environment and files say.
  void apply(base::settings& s) const;
};

void add_profile_options(CLI::App& app, profile_choice& choice);

/// `next` happened after `to`, on pools alike.
void append(profile& to, const profile& next);

class profile_collector {
public:
  /// Checks that the files can be written.
  explicit profile_collector(const profile_choice& choice);

  bool on() const noexcept { return wish_.on; }
  profile_options options() const { return wish_.options(1); }
  void add(const profile& p);
  /// Prints and writes it, if there is one.
  void finish() const;

private:
  runtime::profile_wish wish_;
  runtime::profile_files files_;
  std::optional<profile> all_;
};

}  // namespace shoal::bench
