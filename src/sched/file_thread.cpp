// SPDX-License-Identifier: Apache-2.0
#include "sched/file_thread.hpp"

#include <fmt/format.h>

#include <system_error>

#include "base/log.hpp"
#include "sched/pool.hpp"
#include "shoal/error.hpp"

namespace shoal::sched {

file_thread::file_thread() : executor_(static_cast<worker&>(detail::worker_here()).owner().executor()) {
  try {
    thread_ = executor_.start_thread("shoal-file", [this, log = base::current_log_context()] {
      base::set_log_context(log);
      serve();
    });
  } catch (const std::system_error& e) {
    throw error(errc::exhausted, fmt::format("the system refuses a thread for files ({}); raise ulimit -u", e.what()));
  }
}

file_thread::~file_thread() { tell(k_end); }

void file_thread::tell(state s) noexcept {
  state_.store(s, std::memory_order_release);
  executor_.wake(state_, 1, false);
}

void file_thread::begin(function code, void* argument) {
  code_ = code;
  argument_ = argument;
  task_ = detail::this_task();
  tell(k_work);
  detail::leave(detail::wait_kind::file);
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
}

void file_thread::serve() noexcept {
  for (;;) {
    const std::uint32_t now = state_.load(std::memory_order_acquire);
    if (now == k_end) return;
    if (now == k_idle) {
      executor_.wait(state_, k_idle, machine::k_no_timeout, false);
      continue;
    }
    try {
      code_(argument_);
    } catch (...) {
      thrown_ = std::current_exception();
    }
    detail::suspended* const task = task_;
    state_.store(k_idle, std::memory_order_release);
    detail::wake(task);
  }
}

}  // namespace shoal::sched
