// SPDX-License-Identifier: Apache-2.0
// One node's part of writing or reading an array's file, block by block. A block is written by the node that holds its
// first element where an array's parts are contiguous; blocks of cyclic arrays are divided equally. Elements of other
// nodes are fetched in bulk.
// A few lanes per node, each a task with the memory for one block: while one waits for the disk, in shoal::blocking(), another one
// copies.
// Who may call: tasks. write_part and read_part switch tasks. Errors: shoal::error with the file's name and, of a
// corrupt block, its number and position. Shown by tests/cluster/files_test.cpp, tests/unit/files/array_file_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "files/array_file.hpp"
#include "shoal/detail/array_layout.hpp"

namespace shoal::files {

struct part {
  detail::array_layout layout;
  array_file file;
};

struct block_share {
  std::uint64_t first = 0;
  std::uint64_t end = 0;

  bool empty() const noexcept { return first >= end; }
  std::uint64_t count() const noexcept { return empty() ? 0 : end - first; }
};
block_share share_of(const part& p, std::uint32_t node) noexcept;
/// Of the elements in these blocks.
std::uint64_t bytes_of(const block_share& share, const array_file& file) noexcept;

/// Copies the elements of this node's blocks, bytes_of() them, to `to`.
void copy_part(const part& p, std::byte* to);
/// The file exists and has its size; if this node sees none, or one of another size, its folder is not the one where the
/// file was made, and the error says so. `copied`: what copy_part() has made; nullptr: from the array.
void write_part(const std::string& path, const part& p, bool sync, const std::byte* copied = nullptr);
void read_part(const std::string& path, const part& p);

}  // namespace shoal::files
