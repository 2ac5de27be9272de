// SPDX-License-Identifier: Apache-2.0
// Start and end of a program, threads, and sessions (MPI 5.0, chapter 11).
#include <fmt/format.h>

#include <cstdlib>

#include "base/log.hpp"
#include "rank/abi/hosting.hpp"
#include "rank/abi/making.hpp"
#include "rank/abi/session.hpp"
#include "rank/abi/text_argument.hpp"
#include "rank/collectives.hpp"
#include "rank/leader_link.hpp"

using namespace shoal::rank;       // NOLINT: the functions of a C interface
using namespace shoal::rank::abi;  // NOLINT

namespace {

int level_of(int required) noexcept {
  for (const int level : {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED})
    if (required <= level) return level;
  return MPI_THREAD_MULTIPLE;
}

void begin_rank(caller& c, int required) {
  rank_state& me = c.me;
  if (me.stage != life::before_init && !me.by_session)
    throw mpi_error(MPI_ERR_OTHER, me.stage == life::initialized
                                       ? "MPI has been initialized already"
                                       : "MPI cannot be initialized again after MPI_Finalize");
  me.stage = life::initialized;
  me.by_session = false;
  me.thread_level = level_of(required);
}

// A program without a host has left main().
void end_without_finalize() {
  if (unhosted_rank() == nullptr) return;
  static_cast<void>(enter_any_time(
      [](caller& c) {
        if (c.me.stage == life::initialized && !c.me.by_session)
          c.me.job.abort_job(c.me.job, 1, fmt::format("rank {} has ended without MPI_Finalize", c.me.world));
      },
      "PMPI_Finalize"));
}

// The rank of a program without a host is made by its first call.
void find_job() {
  if (current_rank() != nullptr || rank_of_thread() != nullptr) return;
  try {
    begin_unhosted();
    std::atexit(end_without_finalize);
  } catch (const std::exception& e) {
    shoal::base::write_line("", fmt::format("MPI_Init: {}", e.what()));
    std::exit(1);
  }
}

// After MPI_Finalize and the last session.
void end_if_unhosted() {
  const rank_state* const me = current_rank() == nullptr ? unhosted_rank() : nullptr;
  if (me != nullptr && me->stage == life::finalized && me->sessions == 0) end_unhosted();
}

int init(int required, int* provided, const char* function) {
  find_job();
  note_main_thread();
  return enter_any_time(
      [&](caller& c) {
        begin_rank(c, required);
        if (provided != nullptr) *provided = c.me.thread_level;
      },
      function);
}

}  // namespace

extern "C" {

int PMPI_Init(int*, char***) { return init(MPI_THREAD_SINGLE, nullptr, "PMPI_Init"); }
MPI_ABI_ALIAS(Init)

int PMPI_Init_thread(int*, char***, int required, int* provided) {
  return init(required, provided, "PMPI_Init_thread");
}
MPI_ABI_ALIAS(Init_thread)

int PMPI_Initialized(int* flag) {
  if (flag == nullptr) return MPI_ERR_ARG;
  const rank_state* const me = current_rank() != nullptr ? current_rank() : rank_of_thread();
  *flag = me != nullptr && me->stage != life::before_init && !me->by_session ? 1 : 0;
  return MPI_SUCCESS;
}
MPI_ABI_ALIAS(Initialized)

int PMPI_Finalized(int* flag) {
  if (flag == nullptr) return MPI_ERR_ARG;
  const rank_state* const me = current_rank() != nullptr ? current_rank() : rank_of_thread();
  *flag = (me != nullptr && me->stage == life::finalized) || has_ended_unhosted() ? 1 : 0;
  return MPI_SUCCESS;
}
MPI_ABI_ALIAS(Finalized)

int PMPI_Finalize(void) {
  const int result = enter([&](caller& c) {
    rank_state& me = c.me;
    if (me.stage != life::initialized || me.by_session)
      throw mpi_error(MPI_ERR_OTHER, "there is a session, and MPI_Init has not been called, or MPI_Finalize has");
    if (me.self) me.self->member(me).attributes.erase_all(me.keys, attribute_key::kind::communicator, MPI_COMM_SELF);
    communicator& world = me.job.world();
    world.member(me).attributes.erase_all(me.keys, attribute_key::kind::communicator, MPI_COMM_WORLD);
    communicator& all = me.job.closing();
    check_end(run_barrier(me, all, c.note(wait_note::kind::collective, &all)));
    me.stage = life::finalized;
    if (const auto stray = stray_message(me); stray.has_value()) throw mpi_error(MPI_ERR_OTHER, *stray);
  });
  if (result == MPI_SUCCESS) end_if_unhosted();
  return result;
}
MPI_ABI_ALIAS(Finalize)

int PMPI_Query_thread(int* provided) {
  return enter([&](caller& c) { output(provided) = c.me.thread_level; });
}
MPI_ABI_ALIAS(Query_thread)

int PMPI_Is_thread_main(int* flag) {
  const bool is_main = is_main_thread();
  return enter([&](caller&) { output(flag) = is_main ? 1 : 0; });
}
MPI_ABI_ALIAS(Is_thread_main)

int PMPI_Abort(MPI_Comm, int errorcode) {
  return enter_any_time([&](caller& c) {
    const int status = errorcode == 0 ? 1 : errorcode;
    c.me.job.abort_job(c.me.job, status,
                       fmt::format("rank {} has called MPI_Abort with code {}", c.me.world, errorcode));
  });
}
MPI_ABI_ALIAS(Abort)

int PMPI_Session_init(MPI_Info hints, MPI_Errhandler errhandler, MPI_Session* result) {
  find_job();
  return enter_any_time([&](caller& c) {
    MPI_Session& made = output(result);
    const error_handler_ref errors = checked_handler(errhandler);
    auto* const s = new session(errors, thread_level_of(pairs_of(hints)));
    if (c.me.stage == life::before_init) {
      c.me.stage = life::initialized;
      c.me.by_session = true;
      c.me.thread_level = MPI_THREAD_MULTIPLE;
    }
    ++c.me.sessions;
    made = handle_of<MPI_Session>(*s);
  });
}
MPI_ABI_ALIAS(Session_init)

int PMPI_Session_finalize(MPI_Session* handle) {
  const int result = enter([&](caller& c) {
    delete &object_of<session>(output(handle));
    *handle = MPI_SESSION_NULL;
    --c.me.sessions;
    if (c.me.by_session && c.me.sessions == 0) c.me.stage = life::before_init;
    c.me.by_session = c.me.by_session && c.me.sessions != 0;
  });
  if (result == MPI_SUCCESS) end_if_unhosted();
  return result;
}
MPI_ABI_ALIAS(Session_finalize)
}
