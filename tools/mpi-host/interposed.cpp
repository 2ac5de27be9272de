// SPDX-License-Identifier: Apache-2.0
// Functions of the C library that mean something else in a rank. The programs that this one loads find them here first.
#include <dlfcn.h>
#include <pthread.h>

#include <csetjmp>
#include <cstdlib>
#include <memory>

#include "rank/abi/rank_exit.hpp"
#include "rank/rank.hpp"

namespace {

struct thread_start {
  void* (*body)(void*);
  void* argument;
  shoal::rank::rank_state* of;
};

void* begin_thread(void* raw) {
  const std::unique_ptr<thread_start> s(static_cast<thread_start*>(raw));
  shoal::rank::set_thread_rank(s->of);
  return s->body(s->argument);
}

// The rank that calls, from its task or from a thread that it has made.
shoal::rank::rank_state* calling_rank() noexcept {
  shoal::rank::rank_state* const of = shoal::rank::current_rank();
  return of != nullptr ? of : shoal::rank::thread_rank();
}

}  // namespace

// Threads that a rank makes know their rank.
extern "C" [[gnu::visibility("default")]] int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                                             void* (*body)(void*), void* argument) {
  using create_function = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static auto* const create = reinterpret_cast<create_function*>(dlsym(RTLD_NEXT, "pthread_create"));
  shoal::rank::rank_state* const of = calling_rank();
  if (of == nullptr) return create(thread, attributes, body, argument);
  auto start = std::make_unique<thread_start>(thread_start{body, argument, of});
  const int result = create(thread, attributes, begin_thread, start.get());
  if (result == 0) static_cast<void>(start.release());  // the thread has it
  return result;
}

// exit() in a rank ends the rank.
extern "C" [[gnu::visibility("default"), noreturn]] void exit(int status) noexcept {
  using exit_function = void(int);
  shoal::rank::rank_state* const me = shoal::rank::current_rank();
  if (me != nullptr && me->exit_to != nullptr) {
    me->exit_to->status = status;
    longjmp(me->exit_to->place, 1);
  }
  reinterpret_cast<exit_function*>(dlsym(RTLD_NEXT, "exit"))(status);
  __builtin_unreachable();
}
