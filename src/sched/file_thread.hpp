// SPDX-License-Identifier: Apache-2.0
// A thread that does for tasks what blocks a thread: reading and writing files.
//   file_thread t;   t.run([&] { f.write_at(bytes, offset); });     // the task waits, its worker runs others
// Who may call: tasks of one node, one at a time for each thread. run() switches tasks. The constructor starts the
// thread (some 50 us), the destructor ends it; neither waits for a disk. file_calls is for code that threads call, too.
// Guarantees: run() returns when the function has, and throws what it threw. Exceptions of the constructor: shoal::error
// (exhausted) where the system refuses a thread. Shown by tests/unit/sched/file_thread_test.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "machine/executor.hpp"
#include "shoal/detail/worker.hpp"

namespace shoal::sched {

class file_thread {
public:
  file_thread();
  file_thread(const file_thread&) = delete;
  file_thread& operator=(const file_thread&) = delete;
  ~file_thread();

  template <class F>
  void run(F&& work) {
    begin([](void* f) { (*static_cast<std::remove_reference_t<F>*>(f))(); }, &work);
  }

private:
  enum state : std::uint32_t { k_idle, k_work, k_end };
  using function = void (*)(void*);

  void begin(function code, void* argument);
  void serve() noexcept;
  void tell(state s) noexcept;

  machine::executor& executor_;
  // k_work, k_end: partner serve(); k_idle: the thread, before it wakes the task.
  std::atomic<std::uint32_t> state_{k_idle};
  function code_ = nullptr;
  void* argument_ = nullptr;
  detail::suspended* task_ = nullptr;
  std::exception_ptr thrown_;
  std::unique_ptr<machine::executor::thread> thread_;
};

/// For tasks a file_thread, which the first call starts; on a thread that is no worker the function runs at once.
class file_calls {
public:
  template <class F>
  void run(F&& work) {
    if (detail::t_worker == nullptr) return work();
    if (!thread_) thread_.emplace();
    thread_->run(work);
  }

private:
  std::optional<file_thread> thread_;
};

}  // namespace shoal::sched
