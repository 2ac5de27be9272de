// SPDX-License-Identifier: Apache-2.0
// The runs of a search in a file, a line each, so that a search that was ended goes on where it was. The first line says
// what is tuned; a file of another search is refused.
// Who may call: one thread. Each run is in the file when add() returns. Errors: shoal::error names the file. Test:
// tests/unit/tune/journal_test.cpp.
#pragma once

#include <cstddef>
#include <deque>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tune/space.hpp"
#include "tune/trial.hpp"

namespace shoal::tune {

class journal {
public:
  /// Creates the file, or reads the runs in it.
  journal(const std::string& path, const space& s, const std::vector<std::string>& command, const std::string& figure);

  std::size_t known() const noexcept { return known_; }
  /// The next run at `p` that the file has, each once.
  std::optional<trial_end> take(const point& p);
  void add(const point& p, const trial_end& e);

private:
  const space& space_;
  std::string path_;
  std::ofstream file_;
  std::map<point, std::deque<trial_end>> runs_;
  std::size_t known_ = 0;
};

}  // namespace shoal::tune
