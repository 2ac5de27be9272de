// SPDX-License-Identifier: Apache-2.0
// Start and end. Initialises the library with MPI_THREAD_SERIALIZED in place of MULTIPLE; writes the report.
#include <dlfcn.h>
#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdlib>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "shoal/error.hpp"
#include "tools/mpi-threads/imports.hpp"
#include "tools/mpi-threads/library/collective.hpp"
#include "tools/mpi-threads/library/wrapping.hpp"
#include "tools/mpi-threads/report.hpp"

namespace shoal::mpi_threads {

arbiter* g_arbiter = nullptr;
bool g_unserialized = false;
bool g_meets = true;
std::atomic<bool> g_over{false};
dangling_requests* g_dangling = nullptr;
entry_meter* g_entries = nullptr;

namespace {

constexpr std::uint64_t k_patience_ns = 2'000'000'000;  // wait for threads that are inside when MPI ends

settings g_settings;
std::string g_level = "none";
int g_provided = MPI_THREAD_SINGLE;  // the level that the program sees
std::string g_reason;                // a function of the program that prevents SERIALIZED

std::string level_name(int level) {
  switch (level) {
    case MPI_THREAD_SINGLE: return "single";
    case MPI_THREAD_FUNNELED: return "funneled";
    case MPI_THREAD_SERIALIZED: return "serialized";
    case MPI_THREAD_MULTIPLE: return "multiple";
    default: return "unknown";
  }
}

void say(const std::string& message) { fmt::print(stderr, "shoal mpi-threads: {}\n", message); }

void tell(const std::string& state, const arbiter* a) {
  process_report report;
  report.mpi = SHOAL_MPI_LIBRARY;
  report.state = state;
  report.level = g_level;
  report.reason = g_reason;
  report.chosen = g_settings;
  if (a != nullptr) report.sum = a->sum();
  if (g_dangling != nullptr) {
    report.dangling_average = g_dangling->average();
    report.dangling_most = g_dangling->most();
    report.dangling_samples = g_dangling->samples();
    report.outstanding_average = g_dangling->outstanding();
  }
  if (g_entries != nullptr) report.entries = g_entries->report();
  publish(report, k_names);
}

// Functions for which a library must keep its own locks. Not one-sided completion with MPICH: it holds its locks during
// such calls, so this would not help and would halve the rate.
std::vector<const char*> waiting() {
  std::vector<const char*> names(std::begin(k_waiting), std::end(k_waiting));
#ifdef MPICH
  std::erase_if(names, [](std::string_view name) { return name.starts_with("Win_"); });
#endif
  return names;
}

void read_settings() {
  try {
    g_settings = settings_from_environment();
  } catch (const error& problem) {
    say(problem.what());
    std::_Exit(2);
  }
}

// Sets variables that the MPI library reads when it is initialised.
void set_underneath() {
  std::istringstream all(g_settings.underneath);
  for (std::string one; std::getline(all, one, ',');) {
    if (const std::size_t end = one.find('='); end != std::string::npos)
      setenv(one.substr(0, end).c_str(), one.c_str() + end + 1, 0);  // keeps the user's values
  }
}

void in_child() {
  if (g_arbiter != nullptr) g_arbiter->forked();
  g_arbiter = nullptr;  // the child's calls go to the library, which may refuse them
}

void require_library() {
  if (dlsym(RTLD_NEXT, "PMPI_Init_thread") != nullptr) return;
  if (dlsym(RTLD_NEXT, "MPI_Init_thread") == nullptr) {
    say("the program loaded its MPI library after its start, as Python's mpi4py does; name the library with "
        "--library " SHOAL_MPI_LIBRARY ", which loads it at the start");
    std::_Exit(2);
  }
  say("the MPI library of this program has no PMPI_Init_thread: it is not an MPI library, or it lacks the profiling "
      "interface; a lock cannot be put in front of it");
  std::_Exit(2);
}

void missing() {
  say("the program calls a function that its MPI library does not have: it was compiled for another one, or it "
      "loads MPI later, as Python does; then give --library openmpi or --library mpich");
  std::_Exit(2);
}

// Called when MPI is initialised. The processes decide together whether to use the lock: if one of them requested
// MPI_THREAD_MULTIPLE, all use it, because all must make the same collective calls.
void begin(bool asked) {
  int rank = 0, size = 1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  if (!asked) g_unserialized = true;
  // Processes of one job may run programs that use different functions.
  const std::int64_t mine[2] = {asked ? 1 : 0, g_unserialized ? 0 : 1};
  std::int64_t any[2] = {mine[0], mine[1]};
  if (size > 1) PMPI_Allreduce(mine, any, 2, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  if (any[0] == 0) {
    tell("passed", nullptr);
    return;
  }
  g_meets = any[1] != 0;
  PMPI_Comm_dup(MPI_COMM_WORLD, &g_world);
#ifdef OPEN_MPI
  // The first creation of a topology initialises a module without a lock: two concurrent first calls crash (Open MPI
  // 4.1.4).
  if (g_unserialized) {
    const int one = 1, not_periodic = 0;
    MPI_Comm grid = MPI_COMM_NULL;
    if (PMPI_Cart_create(MPI_COMM_SELF, 1, &one, &not_periodic, 0, &grid) == MPI_SUCCESS) PMPI_Comm_free(&grid);
  }
#endif
  const std::uint32_t process =
      (static_cast<std::uint32_t>(getpid()) * 2654435761U) ^ (static_cast<std::uint32_t>(rank) * 40503U);
  g_order = new total_order(process);
  if (g_settings.dangling) g_dangling = new dangling_requests;
  auto* a = new arbiter(g_settings, k_names);  // never deleted: threads may be inside when MPI ends
  pthread_atfork(nullptr, nullptr, in_child);
  g_arbiter = a;
  tell("running", nullptr);
}

// The program calls MPI from one thread at a time.
void begin_unasked(int provided) {
  read_settings();
  g_provided = provided;
  g_level = level_name(provided);
  if (g_settings.lock == "none") {
    tell("passed", nullptr);
  } else {
    begin(false);
  }
}

// Waits for threads that are still inside, for a limited time, and names those that remain.
void await_others() {
  const std::uint64_t until_ns = base::now_ns() + k_patience_ns;
  std::vector<std::string> others = g_arbiter->threads_inside();
  while (!others.empty() && base::now_ns() < until_ns) {
    usleep(1000);
    others = g_arbiter->threads_inside();
  }
  if (others.empty()) return;
  say(fmt::format("MPI_Finalize was called while other threads are inside: {}; their calls end with MPI_ERR_OTHER",
                  fmt::join(others, "; ")));
  g_over.store(true, std::memory_order_release);
  // No new poll begins after this; a running poll holds the lock until it ends.
}

}  // namespace

void* in_library(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  return found != nullptr ? found : reinterpret_cast<void*>(missing);
}

namespace always {

int Init(int* argc, char*** argv) {
  require_library();
  const int code = PMPI_Init(argc, argv);
  int provided = MPI_THREAD_SINGLE;
  if (code == MPI_SUCCESS) {
    PMPI_Query_thread(&provided);
    begin_unasked(provided);
  }
  return code;
}

int Init_thread(int* argc, char*** argv, int required, int* provided) {
  require_library();
  if (required != MPI_THREAD_MULTIPLE) {
    const int code = PMPI_Init_thread(argc, argv, required, provided);
    if (code == MPI_SUCCESS) begin_unasked(*provided);
    return code;
  }
  read_settings();
  if (g_settings.bias || g_settings.lock == "none") g_entries = new entry_meter;  // never deleted, as the arbiter
  if (g_settings.lock == "none") {
    const int code = PMPI_Init_thread(argc, argv, required, provided);
    if (code != MPI_SUCCESS) return code;
    g_level = level_name(*provided);
    tell("running", nullptr);
    return code;
  }
  set_underneath();
  if (g_settings.level == "auto") g_reason = first_used(waiting());
  g_unserialized = g_settings.level == "multiple" || !g_reason.empty();
  int got = MPI_THREAD_SINGLE;
  const int code = PMPI_Init_thread(argc, argv, g_unserialized ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED, &got);
  if (code != MPI_SUCCESS) return code;
  g_level = level_name(got);
  if (got < (g_unserialized ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED)) {
    say("this MPI library supports only MPI_THREAD_" + g_level + ": it cannot be used from the program's threads");
    *provided = g_provided = got;
    begin(false);
    return code;
  }
  begin(true);
  *provided = g_provided = MPI_THREAD_MULTIPLE;
  return MPI_SUCCESS;
}

int Query_thread(int* provided) {
  if (g_arbiter == nullptr) return PMPI_Query_thread(provided);
  *provided = g_provided;
  return MPI_SUCCESS;
}

int Finalize() {
  arbiter* a = g_arbiter;
  if (a == nullptr && g_entries != nullptr) tell("finished", nullptr);
  if (a == nullptr || a->holding()) return PMPI_Finalize();
  await_others();
  const inside in(number::Finalize);
  return held(in, number::Finalize, k_high, [&] {
    tell("finished", a);
    free_lanes();
    PMPI_Comm_free(&g_world);
    // Attribute callbacks called from there skip the lock, because this thread holds it.
    const int code = PMPI_Finalize();
    g_arbiter = g_over.load(std::memory_order_relaxed) ? a : nullptr;
    return code;
  });
}

int Abort(MPI_Comm comm, int code) {
  // Does not take the lock: its owner may never release it, and an abort must not hang.
  tell("aborted", g_arbiter);
  return PMPI_Abort(comm, code);
}

}  // namespace always
}  // namespace shoal::mpi_threads
