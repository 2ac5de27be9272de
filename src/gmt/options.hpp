// SPDX-License-Identifier: Apache-2.0
// The arguments that GMT's programs take for the library: those that begin with --gmt_ or --gmt-.
// Who may call: main(), before the job. Never switches tasks.
// Guarantees: they are taken out of the arguments, with their values ("--gmt_num_workers 4", "--gmt-state=NAME"); what
// has no meaning here is ignored, and what GMT does not know either is reported.
// Shown by tests/unit/gmt/options_test.cpp.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace shoal::gmt {

struct options {
  std::vector<std::pair<std::string, std::string>> settings;  // of the runtime
  std::string state;                                          // the folder of --gmt-state; empty: none
  std::vector<std::string> unknown;
  bool help = false;
};

/// Throws shoal::error (invalid_argument) for one without its value.
options take_options(int& argc, char** argv);
/// The text of --gmt_help.
std::string help_text();

}  // namespace shoal::gmt
