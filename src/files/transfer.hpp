// SPDX-License-Identifier: Apache-2.0
// An array's file, written or read by all nodes that have a part of it (part.hpp).
// Who may call: tasks. They switch tasks. Errors: shoal::error, also where another node throws it.
// Shown by tests/cluster/files_test.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "files/part.hpp"

namespace shoal::files {

/// Copies of all nodes' parts of an array, each in private memory of its node. Not to be used by two tasks at a time.
class part_copies {
public:
  part_copies() = default;
  part_copies(part_copies&& other) noexcept : of_node_(std::exchange(other.of_node_, {})) {}
  part_copies& operator=(part_copies&& other) noexcept {
    std::swap(of_node_, other.of_node_);
    return *this;
  }
  ~part_copies() { drop(); }

  /// Switches tasks. False: a node has no memory for its copy; then there are none.
  bool take(const part& p);
  void drop() noexcept;
  /// The node's copy: 0 if its part is empty.
  std::uint64_t of(std::uint32_t node) const noexcept { return of_node_.empty() ? 0 : of_node_[node]; }

private:
  std::vector<std::uint64_t> of_node_;  // addresses there
};

/// Makes the file and writes all of it, to the disk if `sync`; what is there is overwritten.
void write_file(const std::string& path, const part& p, bool sync, const part_copies* copies = nullptr);
/// Looks at the header. `wanted`: throws mismatch if the file has another type.
array_file open_file(const std::string& path, file_type wanted, file_format format);
void read_file(const std::string& path, const part& p);

}  // namespace shoal::files
