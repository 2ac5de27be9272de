// SPDX-License-Identifier: Apache-2.0
#include "machine/call_stack.hpp"

#include <execinfo.h>

#include <array>

namespace shoal::machine {

std::vector<const void*> call_stack() {
  std::array<void*, 65> found{};
  const int count = ::backtrace(found.data(), static_cast<int>(found.size()));
  return count > 1 ? std::vector<const void*>(found.begin() + 1, found.begin() + count) : std::vector<const void*>();
}

std::size_t interrupted_call_stack(const void* interrupted, std::span<std::uint64_t> frames) noexcept {
  constexpr std::size_t k_of_handlers = 16;  // in front of the interrupted code
  std::array<void*, 64 + k_of_handlers> found{};
  const auto count = static_cast<std::size_t>(::backtrace(found.data(), static_cast<int>(found.size())));
  std::size_t first = 0;
  while (first < count && found[first] != interrupted) ++first;
  if (frames.empty()) return 0;
  frames[0] = reinterpret_cast<std::uint64_t>(interrupted);
  std::size_t stored = 1;
  // A return address may belong to the next function already.
  for (std::size_t i = first + 1; i < count && stored < frames.size(); ++i)
    frames[stored++] = reinterpret_cast<std::uint64_t>(found[i]) - 1;
  return stored;
}

void prepare_call_stacks() {
  std::array<void*, 1> first{};
  static_cast<void>(::backtrace(first.data(), 1));
}

}  // namespace shoal::machine
