// SPDX-License-Identifier: Apache-2.0
// What every C function of MPI does first and last: it finds the calling rank, and turns an mpi_error into a call of the
// error handler and a code. Programs may replace MPI_NAME and call PMPI_NAME, so a function is written under the second
// name, and the first is an alias of it:
//   int PMPI_Comm_size(MPI_Comm comm, int* size) {
//     return enter(comm, [&](caller&, communicator& c) { output(size) = c.size(); });
//   }
//   MPI_ABI_ALIAS(Comm_size)
// Who may call: tasks of ranks; threads that the program has made, whose calls run as tasks of their rank (hosting.hpp).
#pragma once

#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "mpi-abi/mpi.h"
#include "rank/communicator.hpp"
#include "rank/error.hpp"
#include "rank/rank.hpp"
#include "shoal/error.hpp"

#define MPI_ABI_ALIAS(name) \
  extern "C" [[gnu::alias("PMPI_" #name), gnu::visibility("default")]] decltype(PMPI_##name) MPI_##name;

namespace shoal::rank::abi {

/// A call of an MPI function.
struct caller {
  rank_state& me;
  const char* function;     // "PMPI_Send"
  const void* from;         // the address behind the call
  communicator_ref kept{};  // that of an error, whose operation was the last that kept it

  wait_note note(wait_note::kind what, const communicator* where = nullptr, int peer = 0, int tag = 0) const noexcept {
    return {function + 1, me.world, where, peer, tag, what, from};
  }
};

/// Runs the call as a task of the rank that the calling thread belongs to.
int call_as_rank(int (*call)(void*), void* argument, const char* function);
/// Calls the error handler of `where`, or that of calls without a communicator; the code that the function returns.
int raise(rank_state& me, communicator* where, int code, const std::string& text, const char* function);
/// Calls an error handler with a handle of what it belongs to. `call`: what reports name.
int raise_to(rank_state& me, const error_handler_ref& handler, void* handle, int code, const std::string& text,
             const std::string& call);
/// The same where there may be no rank yet, or none any more: then the program ends.
int raise_anywhere(int code, const std::string& text, const char* function);
/// Ends the job: the rank has not called MPI_Init, or has called MPI_Finalize.
void check_stage(rank_state& me, const char* function);
/// Gives the calling rank a little memory, to say that there is no more.
void release_last_memory() noexcept;
/// The error handler of a handle that the program gives. Throws.
error_handler_ref checked_handler(MPI_Errhandler h);
/// A handle of it for the program; of that of the start if it is none.
MPI_Errhandler new_handle(const error_handler_ref& own, const rank_state& me);
/// The value of the attribute MPI_LASTUSEDCODE.
int last_used_code();

/// The communicator of a handle. Throws.
inline communicator& communicator_of(rank_state& me, MPI_Comm comm) {
  if (comm == MPI_COMM_WORLD) [[likely]]
    return me.job.world();
  if (comm == MPI_COMM_SELF) return me.job.self_of(me);
  if (comm == MPI_COMM_NULL) throw mpi_error(MPI_ERR_COMM, "the communicator is MPI_COMM_NULL");
  auto& c = object_of<communicator>(comm);
  if (!c.has(me)) throw mpi_error(MPI_ERR_COMM, "this rank is no member of the communicator, or has freed it");
  return c;
}

/// The communicator of a call that needs no closer look; nullptr if the call is wrong, or the rank has settings to put
/// aside: then enter() is the way. For calls that pay for every instruction and every line of the stack.
inline communicator* plain_communicator(rank_state* me, MPI_Comm comm) noexcept {
  if (me == nullptr || me->stage != life::initialized || me->setting != nullptr) [[unlikely]]
    return nullptr;
  if (comm == MPI_COMM_WORLD) [[likely]]
    return &me->job.world();
  const auto at = reinterpret_cast<std::uintptr_t>(comm);
  if (is_predefined(comm) || at % alignof(handle_object) != 0) return nullptr;
  auto* const object = reinterpret_cast<handle_object*>(comm);
  if (object->kind() != communicator::k_kind) return nullptr;
  auto* const of = static_cast<communicator*>(object);
  return of->has(*me) ? of : nullptr;
}

/// A pointer that a function stores a result to.
template <class T>
T& output(T* at) {
  if (at == nullptr) throw mpi_error(MPI_ERR_ARG, "a pointer to a result is null");
  return *at;
}

/// Around a call in which other ranks may run on this thread.
class setting_aside {
public:
  setting_aside(rank_state& me, const char* function) noexcept : me_(me), setting_(me.setting) {
    if (setting_ == nullptr) [[likely]]
      return;
    me.setting = nullptr;
    for (thread_setting* s = setting_; s != nullptr; s = s->next) s->put_aside(function);
  }
  ~setting_aside() {
    if (setting_ == nullptr) [[likely]]
      return;
    for (thread_setting* s = setting_; s != nullptr; s = s->next) s->bring_back();
    me_.setting = setting_;
  }
  setting_aside(const setting_aside&) = delete;
  setting_aside& operator=(const setting_aside&) = delete;

private:
  rank_state& me_;
  thread_setting* const setting_;
};

/// Of an error of the runtime below.
inline int class_of(const error& e) noexcept {
  return e.code() == errc::out_of_memory ? int{MPI_ERR_NO_MEM} : int{MPI_ERR_OTHER};
}

/// For functions that may be called before MPI_Init and after MPI_Finalize.
template <class F>
int enter_any_time(const F& f, const char* function = __builtin_FUNCTION(),
                   const void* from = __builtin_return_address(0)) {
  rank_state* const me = current_rank();
  if (me == nullptr) [[unlikely]] {
    struct call {
      const F* f;
      const char* function;
      const void* from;
    } mine{&f, function, from};
    return call_as_rank(
        [](void* a) {
          const call& c = *static_cast<call*>(a);
          return enter_any_time(*c.f, c.function, c.from);
        },
        &mine, function);
  }
  communicator* where = nullptr;
  const setting_aside aside(*me, function + 1);
  caller c{*me, function, from};
  try {
    if constexpr (std::is_invocable_v<const F&, caller&, communicator*&>)
      f(c, where);
    else
      f(c);
    return MPI_SUCCESS;
  } catch (const mpi_error& e) {
    return raise(*me, where, e.code(), e.what(), function);
  } catch (const std::bad_alloc&) {
    release_last_memory();
    return raise(*me, where, MPI_ERR_NO_MEM, "there is not enough memory", function);
  } catch (const std::length_error&) {
    return raise(*me, where, MPI_ERR_COUNT, "a count is larger than anything that memory can hold", function);
  } catch (const error& e) {
    return raise(*me, where, class_of(e), e.what(), function);
  }
}

/// For functions that need no rank: they may be called at any time, by any thread.
template <class F>
int enter_anywhere(const F& f, const char* function = __builtin_FUNCTION()) {
  try {
    f();
    return MPI_SUCCESS;
  } catch (const mpi_error& e) {
    return raise_anywhere(e.code(), e.what(), function);
  } catch (const std::bad_alloc&) {
    release_last_memory();
    return raise_anywhere(MPI_ERR_NO_MEM, "there is not enough memory", function);
  } catch (const std::length_error&) {
    return raise_anywhere(MPI_ERR_COUNT, "a count is larger than anything that memory can hold", function);
  }
}

template <class F>
int enter(const F& f, const char* function = __builtin_FUNCTION(), const void* from = __builtin_return_address(0)) {
  return enter_any_time(
      [&](caller& c, communicator*& where) {
        if (c.me.stage != life::initialized) [[unlikely]]
          check_stage(c.me, function);
        if constexpr (std::is_invocable_v<const F&, caller&, communicator*&>)
          f(c, where);
        else
          f(c);
      },
      function, from);
}

/// The same with a communicator, whose error handler is called.
template <class F>
int enter(MPI_Comm comm, const F& f, const char* function = __builtin_FUNCTION(),
          const void* from = __builtin_return_address(0)) {
  return enter(
      [&](caller& c, communicator*& where) {
        communicator& of = communicator_of(c.me, comm);
        where = &of;
        f(c, of);
      },
      function, from);
}

}  // namespace shoal::rank::abi
