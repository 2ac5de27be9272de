// SPDX-License-Identifier: Apache-2.0
// What GMT's C interface keeps for a running task: what it has begun without waiting, its handle, its number. It is a
// local object of whatever calls the task's function (task_scope), and known to the stack of the task (sched::started).
// Who may call: the task itself, on its worker; here() is one of a few loads. end() may switch tasks.
// Guarantees: a task that has begun nothing costs a few stores. What runs in a program of this interface, but was not
// started by it (loops of shoal/loop.hpp), has no state of its own: here() is nullptr there, or that of the task that
// waits for it on the same stack.
// Shown by tests/cluster/gmt_test.cpp.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "gmt/gmt.h"
#include "sched/worker.hpp"
#include "shoal/detail/completion.hpp"

namespace shoal::gmt {

struct handle_account;

/// Where the answer to a call goes; see execute.cpp.
struct return_place {
  void* buffer = nullptr;
  std::uint32_t* size = nullptr;
};

/// What a task has begun and not waited for.
struct begun_operations {
  detail::completion loops;
  detail::completion calls;
  detail::completion raw;           // gmt_mem_get_nb
  std::deque<return_place> places;  // of `calls`
  struct narrow {
    std::int64_t* at;
    unsigned bytes;
  };
  std::vector<narrow> results;  // of atomic operations on short elements, whose sign is not extended yet
};

struct task_state {
  handle_account* account = nullptr;  // of the handle that the task is of
  gmt_handle_t handle = GMT_HANDLE_NULL;
  std::uint32_t id = k_no_id;
  bool non_preemptable = false;
  std::unique_ptr<begun_operations> begun;

  static constexpr std::uint32_t k_no_id = ~std::uint32_t{0};

  static task_state* here() noexcept { return static_cast<task_state*>(sched::this_worker()->begun().local); }
  begun_operations& operations() {
    if (begun == nullptr) begun = std::make_unique<begun_operations>();
    return *begun;
  }
};

/// Around the call of a task's function.
class task_scope {
public:
  task_scope(handle_account* account, gmt_handle_t handle) noexcept
      : at_(sched::this_worker()->begun()), outer_(std::exchange(at_.local, &state_)) {
    state_.account = account;
    state_.handle = handle;
  }
  task_scope(const task_scope&) = delete;
  task_scope& operator=(const task_scope&) = delete;
  ~task_scope() {
    if (state_.id != task_state::k_no_id) [[unlikely]]
      give_back_id();
    state_.begun.reset();  // waits
    at_.local = outer_;
  }

  task_state& state() noexcept { return state_; }
  /// The task's function has returned: waits for what it has begun, and throws its first failure.
  void end() {
    if (state_.begun != nullptr) [[unlikely]]
      end_operations();
  }

private:
  void end_operations();
  void give_back_id() noexcept;

  task_state state_;
  sched::started& at_;
  void* const outer_;
};

}  // namespace shoal::gmt
