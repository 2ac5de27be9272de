// SPDX-License-Identifier: Apache-2.0
// Memory that an algorithm uses while it runs: on 2 MiB pages if it is large, each page taken by the worker that asks
// for its part first. Who may call: tasks. The constructor may switch.
// Guarantees: on a boundary of 64 bytes, not zero; all of it is there when the constructor returns. Errors:
// shoal::error (out_of_memory) that says for what, how much was asked for and how much there is.
// Shown by tests/unit/algorithms/scratch_memory_test.cpp.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <string_view>

namespace shoal::detail {

class scratch_memory {
public:
  /// `what` begins the message: "sorting".
  scratch_memory(std::size_t bytes, std::string_view what);
  scratch_memory(scratch_memory&&) noexcept;
  ~scratch_memory();

  std::byte* data() const noexcept { return data_; }
  /// The next `count` elements that nobody has taken, on a boundary of 64 bytes.
  template <class T>
  T* take(std::size_t count) noexcept {
    std::byte* const at = data_ + taken_;
    taken_ += bytes_for<T>(count);
    return reinterpret_cast<T*>(at);
  }
  /// What take() needs.
  template <class T>
  static constexpr std::size_t bytes_for(std::size_t count) noexcept {
    return (count * sizeof(T) + 63) / 64 * 64;
  }

private:
  struct pages;

  std::unique_ptr<pages> pages_;
  std::byte* data_ = nullptr;
  std::size_t taken_ = 0;
};

/// shoal::error (out_of_memory) for what operator new has refused.
[[noreturn]] void throw_no_memory(std::string_view what);
/// f(), whose std::bad_alloc becomes shoal::error. `what` begins the message.
template <class F>
decltype(auto) with_memory(std::string_view what, const F& f) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    throw_no_memory(what);
  }
}

}  // namespace shoal::detail
