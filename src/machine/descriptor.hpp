// SPDX-License-Identifier: Apache-2.0
// A file descriptor, closed by its destructor; and the three standard ones, whose numbers no other descriptor of ours
// gets: what a program prints would be written into it. Who may call: any thread, one at a time. Never switches tasks.
// Guarantees: moved, never copied; -1 is none. Shown by tests/unit/machine/socket_test.cpp, descriptor_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "machine/process.hpp"

struct pollfd;

namespace shoal::machine {

/// ppoll(2) that goes on after signals: how many are ready, 0 when the time is over, -1 with errno. Negative: for ever.
int poll_for(std::span<pollfd> entries, std::int64_t timeout_ns) noexcept;

/// Opens on /dev/null those of standard input, output and error that are closed. To be called at the start of a program.
void open_standard_descriptors() noexcept;

/// The same file under a number above that of standard error, if `number` is not; the lower one is closed. -1 stays, with
/// its errno; if no number is free, the result is -1. `inherit`: it stays open over exec.
int above_standard(int number, bool inherit = false) noexcept;
/// An empty file in memory, without a path; `name` is for people. -1, with errno, if the system refuses.
/// `pool_page_bytes`: not 0: it takes pages of this size, a power of two, from the system's pool of them.
int open_memory_file(const std::string& name, bool inherit = false, std::size_t pool_page_bytes = 0) noexcept;

class descriptor {
public:
  descriptor() = default;
  explicit descriptor(int number) noexcept : number_(number) {}
  descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~descriptor() { close(); }

  int number() const noexcept { return number_; }
  bool open() const noexcept { return number_ >= 0; }
  /// The caller closes it.
  int release() noexcept { return std::exchange(number_, -1); }
  void close() noexcept { close_descriptor(std::exchange(number_, -1)); }

private:
  int number_ = -1;
};

}  // namespace shoal::machine
