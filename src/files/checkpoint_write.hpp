// SPDX-License-Identifier: Apache-2.0
// One checkpoint on its way to the disk: what it holds, copies of the arrays if there was memory for them, and the
// writing. Who may call: tasks, one at a time. All functions switch tasks. Errors: shoal::error; an unfinished
// checkpoint is removed then. Shown by tests/cluster/checkpoint_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "files/checkpoint_folder.hpp"
#include "files/part.hpp"
#include "files/transfer.hpp"

namespace shoal::files {

class checkpoint_write {
public:
  /// Makes room for it in the folder, which must outlive this.
  checkpoint_write(checkpoint_folder& folder, manifest what, std::vector<part> arrays, unsigned keep, bool sync);

  std::uint64_t number() const noexcept { return manifest_.number; }
  /// False: there is no memory for copies; write() reads the arrays then.
  bool copy();
  void write();

private:
  void give_up() noexcept;

  checkpoint_folder& folder_;
  manifest manifest_;
  std::vector<part> arrays_;
  std::vector<part_copies> copies_;  // of all arrays, or none
  const unsigned keep_;
  const bool sync_;
};

}  // namespace shoal::files
