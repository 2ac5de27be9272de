// SPDX-License-Identifier: Apache-2.0
// What loops and calls have in common that begin without being waited for: under a handle, or until the task waits.
// Who may call: tasks. spawn_under() and hold_back() may switch.
// Guarantees: what is begun under a handle counts in the handle from before it begins until all of it has ended.
// Shown by tests/cluster/gmt_test.cpp.
#pragma once

#include <cstdint>
#include <memory>

#include "gmt/gmt.h"
#include "gmt/handles.hpp"
#include "gmt/task_state.hpp"
#include "shoal/detail/completion.hpp"

namespace shoal::gmt {

/// Loops and calls of a task that may be outstanding: more make it wait, so that they do not use up the memory.
inline constexpr std::int64_t k_most_begun = 8192;
/// Whether it has waited for all of them.
inline bool hold_back(detail::completion& begun) {
  if (begun.begun() < k_most_begun) [[likely]]
    return false;
  begun.wait_and_rethrow();
  return true;
}

/// Something that was begun under a handle. It ends by itself.
struct handle_spawn final : detail::completion_callback {
  handle_spawn() noexcept : completion_callback(ended) {}

  static void ended(detail::completion_callback& c) noexcept {
    auto& self = static_cast<handle_spawn&>(c);
    handle_account& account = *self.account;
    delete &self;  // a failure that nobody waits for is logged
    end_under(account);
  }

  handle_account* account = nullptr;
  return_place place;
  detail::completion calls;
};

/// begin(spawn) begins loops or calls, counted in spawn.calls.
template <class Begin>
void spawn_under(const char* function, gmt_handle_t handle, Begin&& begin) {
  task_state* const s = task_state::here();
  auto whole = std::make_unique<handle_spawn>();
  whole->account = &begin_under(handle, s != nullptr ? s->account : nullptr, function);
  handle_spawn* const spawn = whole.release();  // deletes itself
  try {
    begin(*spawn);
  } catch (...) {
    spawn->calls.wait();
    handle_spawn::ended(*spawn);
    throw;
  }
  if (!spawn->calls.call_when_done(*spawn)) handle_spawn::ended(*spawn);
}

}  // namespace shoal::gmt
