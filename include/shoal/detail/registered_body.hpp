// SPDX-License-Identifier: Apache-2.0
// The functions that messages may name: receivers (message.hpp) and callees (call.hpp). Each is registered when the
// program or library that holds it is loaded; a message names it by its image and its number among the registered
// functions of that image, so that no other address can be called. See src/remote/code.hpp.
// Who may call: any thread. Never switches tasks.
// Guarantees: an image registers the same functions on all nodes, whatever else is loaded there: what is registered is
// a function of the image itself, never one that the loader has replaced by another image's (hidden visibility).
// Tests: tests/unit/remote/code_test.cpp, tests/cluster/launch_test.cpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace shoal::detail {

enum class body_kind : std::uint8_t { receiver, callee };
inline constexpr std::size_t k_body_kinds = 2;

/// A registered function. Constructed while its image is loaded, before other code of the image runs.
class registered_body {
public:
  using function = void (*)();
  static constexpr std::uint64_t k_unnamed = ~std::uint64_t{0};

  registered_body(body_kind kind, function f) noexcept;
  ~registered_body();
  registered_body(const registered_body&) = delete;
  registered_body& operator=(const registered_body&) = delete;

  body_kind kind() const noexcept { return kind_; }
  function run() const noexcept { return run_; }
  /// What messages contain; k_unnamed: it must not be sent from here (yet).
  std::uint64_t name() const noexcept { return name_.load(std::memory_order_acquire); }
  void name(std::uint64_t value) noexcept { name_.store(value, std::memory_order_release); }

private:
  friend class body_list;

  const body_kind kind_;
  const function run_;
  std::atomic<std::uint64_t> name_{k_unnamed};  // partners: who names the image's functions, and who sends
  registered_body* next_ = nullptr;             // under the list's mutex
  registered_body* previous_ = nullptr;
};

template <body_kind Kind, class Function>
class typed_body final : public registered_body {
public:
  explicit typed_body(Function f) noexcept : registered_body(Kind, reinterpret_cast<function>(f)) {}
  Function run() const noexcept { return reinterpret_cast<Function>(registered_body::run()); }
};

}  // namespace shoal::detail
