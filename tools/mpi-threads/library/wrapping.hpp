// SPDX-License-Identifier: Apache-2.0
// The building blocks of the generated wrappers (wrappers.awk): passes(), request(), started(), twin(), and the
// functions of the other files here. Compiled once for each MPI library.
// Who may call: any thread, in a wrapper. Nothing here holds the lock while it waits for another process, with three
// exceptions: collective calls of section.hpp, which all members have entered by then; calls of waits() with --level
// serialized; and waiting calls made by callbacks of the program, which run with the lock held.
// Guarantees: return values and error handlers are those of the library. A call made from within the library (a user
// operation, an attribute function, an error handler) goes directly to it: the thread holds the lock already.
#pragma once

#include <mpi.h>

#include <cxxabi.h>

#include <utility>

#include "mpi_calls.hpp"  // generated
#include "tools/mpi-threads/arbiter.hpp"
#include "tools/mpi-threads/entry_meter.hpp"
#include "tools/mpi-threads/library/dangling.hpp"

// Processes without MPI (the launcher, shells) load this library too, so it must not require the objects behind the
// constants of an MPI library. Functions are looked up at the first call (mpi_calls.hpp).
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
#pragma weak ompi_mpi_op_null
#pragma weak ompi_mpi_op_sum
#endif

#define SHOAL_EXPORT extern "C" __attribute__((visibility("default")))

namespace shoal::mpi_threads {

// The MPI library's function of this name. If there is none, a function that prints an error and ends the process.
void* in_library(const char* name);

// The arbiter of this process; null before the program requests MPI_THREAD_MULTIPLE, and after the end.
extern arbiter* g_arbiter;
// Calls without a non-blocking version skip the lock: the library has MPI_THREAD_MULTIPLE, or the program calls from one
// thread at a time.
extern bool g_unserialized;
extern bool g_meets;              // some process of the job is serialized: sections synchronise with the other members
extern std::atomic<bool> g_over;  // MPI_Finalize did not wait for the threads inside. Partners: until(), await_turn()
extern dangling_requests* g_dangling;
extern entry_meter* g_entries;  // if entries are measured; also without an arbiter, for the library's own bias

// Also true within a call that does not take the lock: the library may hold one of its own around a callback.
inline bool passes() { return g_arbiter == nullptr || g_arbiter->within(); }

// Marks during a wrapped call which thread is in which function.
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

// Calls the library while holding the lock.
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

// Polls under the lock until `poll(flag)` sets the flag or fails; releases the lock between polls.
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

// Whether a call goes to the library directly and is not measured.
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

// Calls, without our lock, a library that uses its own locks.
template <typename Call>
int unlocked(const inside& in, Call&& work) {
  struct end {
    bool& flag;
    ~end() { flag = false; }
  } const at_end{in.me().unlocked};
  in.me().unlocked = true;
  return work();
}

// A call that may wait within the library and has no replacement.
template <typename Call>
int waits(int call, Call&& work) {
  const inside in(call);
  return g_unserialized ? unlocked(in, work) : held(in, call, k_high, work);
}

// A call that starts a request.
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

// Replaces a blocking call by its non-blocking version; the first poll follows under the same acquisition.
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
