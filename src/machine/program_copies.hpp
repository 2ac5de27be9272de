// SPDX-License-Identifier: Apache-2.0
// Private copies of one program in this process: each has its own global, static and thread-local variables. What no
// copy writes, all share (copied_image.hpp). Chosen libraries that the program needs are copied with it, so that what
// they keep is private, too.
// Who may call: any thread; a program_copies is made once and used by all, a program_copy by one. load() runs the program's
// constructors, and the destructor of a copy its destructors, both with the loader's lock held; they do not switch tasks
// themselves.
// Limits: a program is a shared object (-fPIC, -shared). What other libraries keep, libc included, is shared; so is a
// chosen library where another library needs it.
// Errors: shoal::error that says what to do. Test: tests/unit/machine/program_copies_test.cpp.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "machine/copied_image.hpp"

namespace shoal::machine {

class program_copy {
public:
  program_copy() = default;
  program_copy(program_copy&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)), libraries_(std::move(other.libraries_)) {}
  program_copy& operator=(program_copy&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(libraries_, other.libraries_);
    return *this;
  }
  ~program_copy();

  /// Keeps it until the process ends: something may still run in it.
  void keep() noexcept {
    handle_ = nullptr;
    libraries_.clear();
  }

  /// The address of a symbol of this copy, or nullptr.
  void* find(const char* name) const noexcept;

private:
  friend class program_copies;
  void* handle_ = nullptr;
  std::vector<void*> libraries_;
};

class program_copies {
public:
  /// Reads the program's headers. `private_libraries`: how the names of libraries begin that are copied, too. `shown`:
  /// there is a debugger, and it shall read that file for each copy of the program.
  explicit program_copies(const std::string& path, const std::vector<std::string>& private_libraries = {},
                          const std::string& shown = {});

  program_copy load();

  /// Folders of libraries that the program names relative to its own place ($ORIGIN). The loader does not find that place
  /// by a copy, so they are to be in LD_LIBRARY_PATH when the process begins that loads copies.
  std::vector<std::string> origin_folders() const;

  /// What each copy takes at most: memory of its own, and mappings. What all copies share: memory.
  std::size_t private_bytes() const noexcept { return sum(&copied_image::private_bytes); }
  std::size_t shared_bytes() const noexcept { return sum(&copied_image::shared_bytes); }
  unsigned mappings() const noexcept { return static_cast<unsigned>(sum(&copied_image::mappings)); }

private:
  struct library {
    library(std::string own_name, const std::string& path, const std::string& shown)
        : name(std::move(own_name)), image(path, shown) {}
    std::string name;  // as the program has it
    copied_image image;
  };
  template <class T>
  std::size_t sum(T (copied_image::*of)() const noexcept) const noexcept {
    std::size_t all = (program_.*of)();
    for (const library& l : libraries_) all += (l.image.*of)();
    return all;
  }

  copied_image program_;
  std::deque<library> libraries_;
};

}  // namespace shoal::machine
