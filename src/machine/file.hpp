// SPDX-License-Identifier: Apache-2.0
// Files on disk: reading and writing at positions, and what makes a replaced file survive a loss of power.
// Who may call: any thread, several at once; all functions block their thread, so no worker calls them
// (tasks use shoal::blocking). Never switches tasks.
// Guarantees: a refusal by the system throws shoal::error with the path, the reason and what to do (not_found for a file
// that is missing, system otherwise). write_at() and read_at() go on after signals and short transfers.
// Shown by tests/unit/machine/file_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "machine/descriptor.hpp"

namespace shoal::machine {

class file {
public:
  enum class purpose {
    read,
    write,   // one that exists; what it holds stays
    make,    // one that exists, or a new one; what it holds stays
    replace  // the same, but it is empty then
  };

  file() = default;
  file(std::string path, purpose what_for);

  const std::string& path() const noexcept { return path_; }
  int number() const noexcept { return open_.number(); }
  std::uint64_t size_bytes() const;
  /// Gives it this size, and takes the room on the disk now where the file system can.
  void resize(std::uint64_t bytes);
  /// Returns how many bytes there were: fewer than asked for at the end of the file.
  std::size_t read_at(std::span<std::byte> to, std::uint64_t offset) const;
  void write_at(std::span<const std::byte> from, std::uint64_t offset);
  /// Lets the disk begin to write this part, and waits for nothing.
  void begin_writing(std::uint64_t offset, std::uint64_t bytes) noexcept;
  /// What was written is on the disk when it returns.
  void sync();
  /// Holds the file against others that call this, also of this process, until it is closed. False: another one holds
  /// it.
  bool try_lock();
  /// Whether its path still names this file: false after another one was renamed to that path, or it was removed.
  bool is_named() const noexcept;
  /// Closes it. Network file systems say here what they could not write: the destructor ignores that.
  void close();

private:
  [[noreturn]] void refuse(const char* doing, int cause) const;

  std::string path_;
  descriptor open_;
};

/// The new name replaces a file that has it. Both are in one folder.
void rename_file(const std::string& from, const std::string& to);
/// False: there was none.
bool remove_file(const std::string& path);
/// Names in the folder are on the disk when it returns: files made, renamed and removed there.
void sync_folder(const std::string& path);
/// Of a file: ".", if its path has no folder.
std::string folder_of(const std::string& path);
/// Makes it and those around it, if they are missing.
void make_folder(const std::string& path);
/// The names in it, in no order; none if there is no such folder.
std::vector<std::string> names_in(const std::string& path);
/// Removes a folder with all that is in it. False: there was none.
bool remove_folder(const std::string& path);
/// As seen from the root, with this process's folder in front. ".." stays: behind a link it is another folder than the
/// text says.
std::string absolute_path(const std::string& path);

}  // namespace shoal::machine
