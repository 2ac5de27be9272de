// SPDX-License-Identifier: Apache-2.0
// What the programs of this folder share: a stop watch, and numbers from the command line.
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace examples {

/// Runs f() and prints how long it took.
template <class F>
void timed(const char* name, const F& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  std::printf("%-12s %8.3f s\n", name, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

/// Argument `at` of the program, or `otherwise`.
inline unsigned long number(int argc, char** argv, int at, unsigned long otherwise) {
  return at < argc ? std::strtoul(argv[at], nullptr, 10) : otherwise;
}

/// The exit status, after a sentence.
inline int verdict(bool right) {
  std::puts(right ? "the result is right" : "THE RESULT IS WRONG");
  return right ? 0 : 1;
}

}  // namespace examples
