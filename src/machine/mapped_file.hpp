// SPDX-License-Identifier: Apache-2.0
// A file in memory that is a file on disk, too: what is written to it survives the process, also if it is killed.
// Who may call: any thread; the memory is the caller's. Never switches tasks. Errors: shoal::error names the file and what
// to do. Guarantees: a new file is empty where nothing was written, and all its room on the disk is reserved when it is
// made, so that nobody who writes to it is killed because the disk is full (SIGBUS). Test: tests/unit/machine/mapped_file_test.cpp.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace shoal::machine {

class mapped_file {
public:
  mapped_file() = default;
  /// A new file of this size; one that exists is replaced. Where there is no room for it no file is left.
  static mapped_file make(const std::string& path, std::size_t bytes);
  /// What the file has, to be read.
  static mapped_file read(const std::string& path);
  mapped_file(mapped_file&& other) noexcept;
  mapped_file& operator=(mapped_file&& other) noexcept;
  ~mapped_file();

  std::span<std::byte> bytes() const noexcept { return {data_, bytes_}; }

private:
  mapped_file(std::byte* data, std::size_t bytes) noexcept : data_(data), bytes_(bytes) {}

  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace shoal::machine
