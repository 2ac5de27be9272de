// SPDX-License-Identifier: Apache-2.0
// Runs a function in a forked child, for what would spoil or end the test's own process, and tells how the child ended.
// Who may call: tests. The child leaves by _exit with the function's result, without the test framework's own ending.
#pragma once

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>

namespace shoal::machine {

/// The status as waitpid gives it.
template <class Function>
int in_child(Function&& function) {
  const pid_t child = ::fork();
  if (child == 0) {
    int result = 99;
    try {
      result = function();
    } catch (...) {
      result = 98;
    }
    ::_exit(result);
  }
  int status = -1;
  if (child < 0 || ::waitpid(child, &status, 0) != child) return -1;
  return status;
}

inline bool exited_with(int status, int code) { return WIFEXITED(status) && WEXITSTATUS(status) == code; }

/// Whether the system keeps limits of memory; emulators of other processors do not.
inline bool keeps_memory_limits() {
  const int status = in_child([] {
    const rlimit little{std::size_t{1} << 20, std::size_t{1} << 20};
    if (::setrlimit(RLIMIT_DATA, &little) != 0) return 1;
    void* const much =
        ::mmap(nullptr, std::size_t{4} << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return much == MAP_FAILED ? 0 : 2;
  });
  return !exited_with(status, 2);
}

}  // namespace shoal::machine
