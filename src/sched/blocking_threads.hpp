// SPDX-License-Identifier: Apache-2.0
// The threads of a pool on which tasks have calls made that block (shoal/blocking.hpp). They start when calls wait and no
// thread is idle, up to a limit, and end when they have been idle for a while.
// Who may call: run() tasks of the pool; it switches. The destructor when no call is left.
// Guarantees: calls begin first come, first served. No worker blocks: the lock is held for a few instructions, but for the
// start of a thread (some 50 us). Errors: run() throws shoal::error (exhausted) if the system refuses a thread and there is
// none. Tests: tests/unit/sched/blocking_test.cpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "machine/executor.hpp"
#include "shoal/detail/worker.hpp"

namespace shoal::sched {

class blocking_threads {
public:
  using function = void (*)(void*) noexcept;

  blocking_threads(machine::executor& by, std::size_t most) noexcept : executor_(by), most_(most) {}
  blocking_threads(const blocking_threads&) = delete;
  blocking_threads& operator=(const blocking_threads&) = delete;
  ~blocking_threads();

  void run(function code, void* argument);
  /// How many there are. Any thread.
  std::size_t count() const;

private:
  struct call {
    function code;
    void* argument;
    detail::suspended* task;
    call* next = nullptr;
  };
  static constexpr std::int64_t k_idle_ns = 10'000'000'000;

  void start_one();
  void serve(std::size_t number) noexcept;
  call* take() noexcept;

  machine::executor& executor_;
  const std::size_t most_;
  mutable std::mutex lock_;
  // With the lock held:
  call* first_ = nullptr;
  call* last_ = nullptr;
  std::size_t idle_ = 0;    // threads that sleep
  std::size_t called_ = 0;  // of these, threads that have been woken
  std::size_t running_ = 0;
  bool ending_ = false;
  std::vector<std::unique_ptr<machine::executor::thread>>
      threads_;                     // by number; ended ones stay until it is used again
  std::vector<std::size_t> ended_;  // numbers

  std::atomic<std::uint32_t> bell_{0};  // changes when an idle thread has something to do. Partners: run(), serve()
};

}  // namespace shoal::sched
