// SPDX-License-Identifier: Apache-2.0
// Values of a thread that move with a simulated thread. An executor that runs many threads in one of the system
// (net/transports/sim) exchanges them at its switches, so that code which keeps a thread_local need not know. Whoever
// keeps one declares it once, beside it:
//   thread_local worker* t_mine = nullptr;
//   const thread_value k_mine(+[]() noexcept { return &t_mine; });
// Who may call: the constructor at static initialization; thread_values() later, any thread. Nothing switches tasks.
// Guarantees: a fresh thread has value T(). Limits: k_most values, which copy as bytes.
// Shown by tests/unit/base/thread_value_test.cpp.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>

namespace shoal::base {

class thread_value {
public:
  static constexpr std::size_t k_most = 16;
  static constexpr std::size_t k_most_bytes = 16;

  template <class T>
  explicit thread_value(T* (*of_this_thread)() noexcept) noexcept
      : thread_value(
            reinterpret_cast<erased>(of_this_thread),
            [](erased f) noexcept -> void* { return reinterpret_cast<T* (*)() noexcept>(f)(); }, k_bytes_of<T>,
            [](void* at) noexcept {
              const T fresh{};
              std::memcpy(at, &fresh, k_bytes_of<T>);
            }) {
    static_assert(std::is_trivially_copyable_v<T> && k_bytes_of<T> <= k_most_bytes);
  }

  void* here() const noexcept { return call_(of_this_thread_); }
  std::size_t bytes() const noexcept { return bytes_; }
  /// Writes what a fresh thread has. `at` need not be aligned.
  void initialize(void* at) const noexcept { initialize_(at); }

private:
  using erased = void (*)();
  // T is mostly a pointer, whose own size is meant.
  template <class T>
  static constexpr std::size_t k_bytes_of = sizeof(T);  // NOLINT(bugprone-sizeof-expression)
  thread_value(erased of_this_thread, void* (*call)(erased) noexcept, std::size_t bytes,
               void (*write_initial)(void*) noexcept) noexcept;

  erased of_this_thread_;
  void* (*call_)(erased) noexcept;
  std::size_t bytes_;
  void (*initialize_)(void*) noexcept;
};

/// All that were declared in the program.
std::span<const thread_value* const> thread_values() noexcept;

}  // namespace shoal::base
