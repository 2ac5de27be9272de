// SPDX-License-Identifier: Apache-2.0
// Functions that a program has given (of attributes, error handlers, requests) run where the program has called MPI. A call
// of a thread that is no rank's task is carried out by a task (abi/hosting.hpp); from there the thread is asked to run the
// function, for it may have locks and variables of the thread: Python's interpreter lock, for one.
//   const int code = call_program([&] { return known.erase(handle, key, value, extra); });
// Who may call: tasks of ranks. May switch tasks. An exception of the function is the caller's.
#pragma once

#include <exception>
#include <memory>
#include <type_traits>

namespace shoal::rank {

/// A thread that waits for a call which the running task carries out.
class calling_thread {
public:
  calling_thread() = default;
  calling_thread(const calling_thread&) = delete;
  calling_thread& operator=(const calling_thread&) = delete;
  /// Has the thread run `f(argument)`, which does not throw, and returns after that.
  virtual void run(void (*f)(void*), void* argument) noexcept = 0;

protected:
  ~calling_thread() = default;
};

/// That of the running task; nullptr: the task is the rank's own.
calling_thread* thread_of_call() noexcept;

template <class F>
int call_program(F&& f) {
  calling_thread* const thread = thread_of_call();
  if (thread == nullptr) return f();
  struct call {
    std::remove_reference_t<F>* body;
    int result;
    std::exception_ptr thrown;
  } mine{std::addressof(f), 0, nullptr};
  thread->run(
      [](void* at) {
        call& c = *static_cast<call*>(at);
        try {
          c.result = (*c.body)();
        } catch (...) {
          c.thrown = std::current_exception();
        }
      },
      &mine);
  if (mine.thrown) std::rethrow_exception(mine.thrown);
  return mine.result;
}

}  // namespace shoal::rank
