// SPDX-License-Identifier: Apache-2.0
// One file of private copies: a shared object that the process loads several times. The loader knows files by their
// inode, their path and the name in them, so each copy is loaded from a file of its own in memory, under a path that no
// other copy has, and may have other names in it. share() maps its read-only pages from the original file, so that all
// copies share them.
// Who may call: any thread. load() runs constructors, with the loader's lock held.
// Errors: shoal::error that says what to do. Test: tests/unit/machine/program_copies_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "machine/file.hpp"

namespace shoal::machine {

class copied_image {
public:
  /// Another name in a copy, of the same length: the library's own, or one of those that the file needs.
  struct renaming {
    std::string from;
    std::string to;
  };
  struct loaded {
    void* handle = nullptr;
    int file = -1;  // in memory; whoever gets it closes it
  };

  /// Reads the file's headers. `shown`: there is a debugger, and it shall read that file in place of each copy.
  explicit copied_image(const std::string& path, std::string shown = {})
      : copied_image(path, std::move(shown), wanted::copies) {}

  /// The libraries that any program names, also one that cannot be copied; none if the file is no program.
  static std::vector<std::string> libraries_of(const std::string& path);

  loaded load(std::span<const renaming> names) const;
  /// After everything that looks for the copy by its names has been loaded. What the system refuses costs memory only.
  void share(const loaded& copy) const;

  const std::string& path() const noexcept { return file_.path(); }
  const std::vector<std::string>& needed() const noexcept { return needed_; }
  /// Where the file says that needed libraries lie.
  const std::vector<std::string>& folders() const noexcept { return folders_; }
  /// What each copy takes at most: memory of its own, and mappings. What all copies share: memory.
  std::size_t private_bytes() const noexcept { return private_bytes_; }
  std::size_t shared_bytes() const noexcept { return shared_bytes_; }
  unsigned mappings() const noexcept { return mappings_; }

private:
  enum class wanted : std::uint8_t { copies, names };
  copied_image(const std::string& path, std::string shown, wanted what);

  struct part {
    std::uint64_t address = 0;  // less that of the copy
    std::uint64_t offset = 0;   // in the file
    std::uint64_t bytes = 0;
    int protection = 0;
    std::uint64_t own_offset = 0;  // of the pages of the file with nothing else on them
    std::uint64_t own_bytes = 0;
  };
  struct place {
    std::string name;
    std::uint64_t offset;  // in the file
  };
  template <class T>
  std::span<const T> at(std::uint64_t offset, std::uint64_t count) const;
  bool is_debugged() const noexcept { return !shown_.empty(); }
  std::uint64_t told_name() const;
  bool map_shared(const part& p, std::byte* to) const;
  void read_parts();
  void read_names(std::uint64_t offset, std::uint64_t bytes);
  std::uint64_t offset_of(std::uint64_t address) const;
  std::string_view text_at(std::uint64_t offset) const;
  [[noreturn]] void refuse(const char* why) const;
  void refuse_copies(const char* why) const {
    if (wanted_ == wanted::copies) refuse(why);
  }
  struct free_name {
    void operator()(char* name) const noexcept { std::free(name); }
  };

  file file_;
  wanted wanted_;
  std::string shown_;
  std::vector<std::byte> content_;
  std::vector<part> read_only_;
  std::vector<place> names_;
  std::vector<std::string> needed_;
  std::vector<std::string> folders_;
  std::size_t private_bytes_ = 0;
  std::size_t shared_bytes_ = 0;
  unsigned mappings_ = 0;
  mutable std::mutex names_mutex_;
  mutable std::vector<std::unique_ptr<char, free_name>> earlier_names_;  // that the loader knew copies by
};

}  // namespace shoal::machine
