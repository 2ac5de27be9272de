// SPDX-License-Identifier: Apache-2.0
// What the generated wrappers (wrappers.awk) consist of: passes(), request(), started(), twin(), and the functions of
// the other files here. Compiled once for each MPI library.
// Who may call: any thread, in a wrapper. Nothing here holds the lock while it waits for another process, but for the
// collective calls of section.hpp, which all members are in by then, and for what waits() says if --level serialized
// was demanded. What callbacks call that waits, waits with the lock held.
// Guarantees: return values and error handlers are the library's. A call made from within the library (a user
// operation, an attribute function, an error handler) goes straight to it: the thread holds the lock already.
#pragma once

#include <mpi.h>

#include <cxxabi.h>

#include <utility>

#include "mpi_calls.hpp"  // generated
#include "tools/mpi-threads/arbiter.hpp"
#include "tools/mpi-threads/entry_meter.hpp"
#include "tools/mpi-threads/library/dangling.hpp"

// This library is also loaded by processes without MPI (the launcher, shells): objects of an MPI library that stand
// behind its constants must not be required there. Functions are looked up at the first call of one (mpi_calls.hpp).
#ifdef OPEN_MPI
#pragma weak ompi_mpi_comm_world
#pragma weak ompi_mpi_comm_self
#pragma weak ompi_mpi_comm_null
#pragma weak ompi_mpi_group_null
#pragma weak ompi_mpi_info_null
#pragma weak ompi_mpi_win_null
#pragma weak ompi_request_null
#pragma weak ompi_mpi_datatype_null
#pragma weak ompi_mpi_byte
#pragma weak ompi_mpi_packed
#pragma weak ompi_mpi_int64_t
#pragma weak ompi_mpi_errors_return
#pragma weak ompi_mpi_op_max
#pragma weak ompi_mpi_op_sum
#endif

#define SHOAL_EXPORT extern "C" __attribute__((visibility("default")))

namespace shoal::mpi_threads {

// The MPI library's function of this name, behind ours; if it has none, one that says so and ends the process.
void* in_library(const char* name);

// The one arbiter of this process; null while the program has not asked for MPI_THREAD_MULTIPLE, and after the end.
extern arbiter* g_arbiter;
extern bool g_unserialized;  // what has no twin needs no lock: the library underneath has MPI_THREAD_MULTIPLE, or the
                             // program calls by one thread at a time
extern bool g_meets;         // some process of the job is serialized: who enters a section meets the others
extern std::atomic<bool>
    g_over;  // MPI_Finalize went on without those who were still inside. Partners: until(), await_turn()
extern dangling_requests* g_dangling;
extern entry_meter* g_entries;  // if they are measured; without an arbiter, of the library by itself

// True also within a call that goes without the lock: the library may hold one of its own around a callback.
inline bool passes() { return g_arbiter == nullptr || g_arbiter->within(); }

// Around each wrapped call: which thread is in which function.
class inside {
public:
  explicit inside(int call) : me_(g_arbiter->me()), before_(me_.inside.load(std::memory_order_relaxed)) {
    me_.inside.store(call, std::memory_order_relaxed);
    auto& calls = me_.counters[static_cast<std::size_t>(call)].calls;
    calls.store(calls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  ~inside() { me_.inside.store(before_, std::memory_order_relaxed); }
  inside(const inside&) = delete;
  inside& operator=(const inside&) = delete;
  thread_record& me() const { return me_; }

private:
  thread_record& me_;
  const int before_;
};

// Calls the library under the lock.
template <typename Call>
auto held(const inside& in, int call, unsigned cls, Call&& work) {
  arbiter& a = *g_arbiter;
  a.enter(in.me(), call, cls);
  try {
    if (g_dangling != nullptr) [[unlikely]]
      g_dangling->sample();
    auto result = work();
    a.leave(in.me());
    return result;
  } catch (abi::__forced_unwind&) {  // pthread_exit or cancellation within a callback or the library
    a.thread_ends(in.me());
    throw;
  } catch (...) {  // an error handler that throws
    a.leave(in.me());
    throw;
  }
}

// Polls under the lock until `poll(flag)` sets the flag or fails; between polls the lock is free.
template <typename Poll>
int until(const inside& in, int call, Poll&& poll) {
  for (unsigned polls = 0;; ++polls) {
    if (g_over.load(std::memory_order_acquire)) return MPI_ERR_OTHER;
    int flag = 0;
    const int status = held(in, call, k_low, [&] { return poll(&flag); });
    if (status != MPI_SUCCESS || flag != 0) return status;
    g_arbiter->give_way(polls);
  }
}

// One that the library gets as it is, and that is measured.
inline bool passes_unmeasured() { return passes() && (g_entries == nullptr || g_arbiter != nullptr); }
template <typename Call>
auto measured(Call&& work) {
  const entry one(g_entries);
  return work();
}

// A call that returns at once.
template <typename Call>
auto request(int call, Call&& work) {
  const inside in(call);
  const entry one(g_entries);
  return held(in, call, k_high, work);
}

// Calls a library that keeps its own locks, without ours.
template <typename Call>
int unlocked(const inside& in, Call&& work) {
  struct end {
    bool& flag;
    ~end() { flag = false; }
  } const at_end{in.me().unlocked};
  in.me().unlocked = true;
  return work();
}

// One that may wait within the library, and that nothing can be put in the place of.
template <typename Call>
int waits(int call, Call&& work) {
  const inside in(call);
  return g_unserialized ? unlocked(in, work) : held(in, call, k_high, work);
}

// A call that leaves a request behind.
template <typename Call>
int started(int call, MPI_Request* made, Call&& work) {
  const inside in(call);
  const entry one(g_entries);
  return held(in, call, k_high, [&] {
    const int status = work();
    if (g_dangling != nullptr && status == MPI_SUCCESS) [[unlikely]]
      g_dangling->add(*made);
    return status;
  });
}

// A blocking call as its non-blocking twin: the first poll at once, under the lock that started it.
template <typename Start>
int twin_within(const inside& in, int call, MPI_Status* status, Start&& start) {
  MPI_Request made = MPI_REQUEST_NULL;
  int flag = 0;
  const int first = held(in, call, k_high, [&] {
    const int code = start(&made);
    return code != MPI_SUCCESS ? code : PMPI_Test(&made, &flag, status);
  });
  if (first != MPI_SUCCESS || flag != 0) return first;
  return until(in, call, [&](int* done) { return PMPI_Test(&made, done, status); });
}

template <typename Start>
int twin(int call, MPI_Status* status, Start&& start) {
  const inside in(call);
  return twin_within(in, call, status, start);
}

}  // namespace shoal::mpi_threads

#include "tools/mpi-threads/library/own.hpp"
#include "tools/mpi-threads/library/section.hpp"
#include "tools/mpi-threads/library/window.hpp"
