// SPDX-License-Identifier: Apache-2.0
// Functions of the C library that mean something else in a rank. The programs that this one loads find them here first.
// Threads: those that a rank makes know their rank.
#include <pthread.h>

#include <memory>

#include "tools/mpi-host/rank_libc.hpp"

using namespace shoal::host;  // NOLINT: the functions of a C interface

namespace {

struct thread_start {
  void* (*body)(void*);
  void* argument;
  shoal::rank::rank_state* of;
};

void* begin_thread(void* raw) {
  const std::unique_ptr<thread_start> s(static_cast<thread_start*>(raw));
  shoal::rank::set_thread_rank(s->of);
  if (const rank_libc& mine = libc_of(*s->of); mine.locale.of != nullptr) ::uselocale(mine.locale.of);
  return s->body(s->argument);
}

}  // namespace

SHOAL_INTERPOSED int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                                    void* argument) {
  SHOAL_NEXT(pthread_create);
  shoal::rank::rank_state* const task = shoal::rank::current_rank();
  shoal::rank::rank_state* const of = task != nullptr ? task : shoal::rank::thread_rank();
  if (of == nullptr) return pthread_create_next(thread, attributes, body, argument);
  libc_of(*of).has_made_threads = true;
  auto start = std::make_unique<thread_start>(thread_start{body, argument, of});
  const int result = pthread_create_next(thread, attributes, begin_thread, start.get());
  if (result == 0) static_cast<void>(start.release());  // the thread has it
  return result;
}
