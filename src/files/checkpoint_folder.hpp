// SPDX-License-Identifier: Apache-2.0
// A folder of checkpoints:
//   FOLDER/7.manifest      exists if checkpoint 7 is whole: it is renamed to that name when all the rest is on the disk
//   FOLDER/7/rank.shoal    an array
//   FOLDER/lock            held by the process that uses the folder
// Who may call: any thread, one at a time; all functions block it (tasks use shoal::blocking).
// Never switches tasks.
// Guarantees: after begin(), the end of any process and the loss of the machine leave the checkpoints that were whole
// before; after commit() the new one too. Errors: shoal::error with a path.
// Shown by tests/unit/files/checkpoint_folder_test.cpp, tests/cluster/checkpoint_kill_test.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "files/manifest.hpp"
#include "machine/file.hpp"

namespace shoal::files {

class checkpoint_folder {
public:
  explicit checkpoint_folder(std::string path) : path_(std::move(path)) {}

  const std::string& path() const noexcept { return path_; }
  std::string array_path(std::uint64_t number, const std::string& name) const;
  std::string manifest_path(std::uint64_t number) const;

  /// Makes the folder if it is missing, and keeps other processes off. Throws exhausted if another one uses it.
  void lock(bool sync);
  /// The checkpoints that have a manifest, the newest first.
  std::vector<std::uint64_t> whole() const;
  /// Throws bad_input if the manifest is damaged.
  manifest read(std::uint64_t number) const;

  /// Removes what was never finished, and makes room for a checkpoint; returns its number.
  std::uint64_t begin();
  /// Makes it whole.
  void commit(const manifest& m, bool sync);
  void remove(std::uint64_t number, bool sync);
  /// Removes the oldest until `keep` are left.
  void remove_old(unsigned keep, bool sync);

private:
  std::string folder_path(std::uint64_t number) const;

  std::string path_;
  machine::file lock_;
};

}  // namespace shoal::files
