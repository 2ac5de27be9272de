// SPDX-License-Identifier: Apache-2.0
// Private copies of one program in this process: each has its own global, static and thread-local variables. The loader
// knows files by their inode and their path, so each copy is loaded from a file of its own in memory, under a path that
// no other copy has; then its read-only pages are mapped from the program's file, so that all copies share them.
// Who may call: any thread; a program_copies is made once and used by all, a program_copy by one. load() runs the program's
// constructors, and the destructor of a copy its destructors, both with the loader's lock held; they do not switch tasks
// themselves.
// Limits: a program is a shared object (-fPIC, -shared). What other libraries keep, libc included, is shared.
// Errors: shoal::error that says what to do. Test: tests/unit/machine/program_copies_test.cpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "machine/file.hpp"

namespace shoal::machine {

class program_copy {
public:
  program_copy() = default;
  program_copy(program_copy&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  program_copy& operator=(program_copy&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~program_copy();

  /// Keeps it until the process ends: something may still run in it.
  void keep() noexcept { handle_ = nullptr; }

  /// The address of a symbol of this copy, or nullptr.
  void* find(const char* name) const noexcept;

private:
  friend class program_copies;
  explicit program_copy(void* handle) noexcept : handle_(handle) {}
  void* handle_ = nullptr;
};

class program_copies {
public:
  /// Reads the program's headers.
  explicit program_copies(const std::string& path);

  program_copy load();

  /// What each copy takes at most: memory of its own, and mappings. What all copies share: memory.
  std::size_t private_bytes() const noexcept { return private_bytes_; }
  std::size_t shared_bytes() const noexcept { return shared_bytes_; }
  unsigned mappings() const noexcept { return mappings_; }

private:
  struct part {
    std::uint64_t address = 0;  // less that of the copy
    std::uint64_t offset = 0;   // in the file
    std::uint64_t bytes = 0;
    int protection = 0;
    std::uint64_t own_offset = 0;  // of the pages of the file with nothing else on them
    std::uint64_t own_bytes = 0;
  };
  struct free_name {
    void operator()(char* name) const noexcept { std::free(name); }
  };
  void share(void* handle, int copied);
  [[noreturn]] void refuse(const char* why) const;

  file program_;
  std::vector<std::byte> content_;
  std::vector<part> read_only_;
  std::size_t private_bytes_ = 0;
  std::size_t shared_bytes_ = 0;
  unsigned mappings_ = 0;
  std::mutex names_mutex_;
  std::vector<std::unique_ptr<char, free_name>> earlier_names_;  // that the loader knew copies by
  std::atomic<unsigned> loaded_{0};                              // partners: the threads that load
};

}  // namespace shoal::machine
