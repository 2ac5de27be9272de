// SPDX-License-Identifier: Apache-2.0
#include "tools/mpi-host/rank_libc.hpp"

#include <unistd.h>

#include <atomic>
#include <deque>
#include <set>
#include <string>
#include <string_view>

#include "machine/process.hpp"
#include "tools/mpi-host/start.h"

namespace shoal::host {
namespace {

// Of the process: made before the ranks, and never freed, since their threads may go on.
rank_libc* all = nullptr;
unsigned count = 0;
bool has_whole_job = false;
int process = 0;
void* shared_copy = nullptr;  // what exit handlers are known by of the one copy that all ranks run

constexpr std::string_view k_time_zone = "TZ=";

// What ranks begin with, and what the C library looks at, which threads may do at any time. No list is changed, but for
// the last entry of the process's: the time zone, exchanged as a whole.
struct environments {
  std::vector<char*> of_ranks;
  std::mutex mutex;
  std::deque<std::vector<char*>> of_process;  // the last is in use if nobody has called setenv() since
  std::set<std::string> time_zones;           // all that have been set
};
environments* kept = nullptr;

void keep_environment() {
  kept = new environments;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) kept->of_ranks.push_back(*entry);
  kept->of_ranks.push_back(nullptr);
}

// The place of the time zone, behind all else.
char*& time_zone_entry() {
  if (kept->of_process.empty() || ::environ != kept->of_process.back().data()) {
    std::vector<char*>& list = kept->of_process.emplace_back();
    for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry)
      if (!std::string_view(*entry).starts_with(k_time_zone)) list.push_back(*entry);
    list.insert(list.end(), {nullptr, nullptr});
    ::environ = list.data();
  }
  std::vector<char*>& list = kept->of_process.back();
  return list[list.size() - 2];
}

}  // namespace

void set_time_zone(const char* value) {
  char* zone = nullptr;
  const std::lock_guard hold(kept->mutex);
  if (value != nullptr)
    zone = const_cast<char*>(kept->time_zones.insert(std::string(k_time_zone) + value).first->c_str());
  std::atomic_ref(time_zone_entry()).store(zone, std::memory_order_release);
}

void make_rank_libcs(unsigned ranks, bool is_whole_job) {
  has_whole_job = is_whole_job;
  process = machine::own_pid();
  count = ranks;
  keep_environment();
  all = new rank_libc[ranks];
  for (unsigned i = 0; i < ranks; ++i) {
    all[i].local = static_cast<int>(i);
    all[i].own_environment = rank_environment();
  }
}

void share_copy(rank_libc& with) noexcept { with.copy = shared_copy; }
void note_shared_copy(void* handle) noexcept { shared_copy = handle; }

char** rank_environment() noexcept { return kept->of_ranks.data(); }

rank_libc* calling_libc() noexcept {
  if (all == nullptr) return nullptr;
  const rank::rank_state* of = rank::current_rank();
  if (of == nullptr) of = rank::thread_rank();
  return of != nullptr ? &libc_of(*of) : nullptr;
}

rank_libc& libc_of(const rank::rank_state& r) noexcept { return all[has_whole_job ? r.world : r.local]; }
rank_libc& libc_of_number(unsigned local) noexcept { return all[local]; }
unsigned ranks_here() noexcept { return count; }
bool in_own_process() noexcept { return machine::own_pid() == process; }

// The variables of the main thread first, then what was registered for the end.
void rank_libc::run_exit_handlers(int status) noexcept {
  const auto take = [this](std::vector<exit_handler>& from) {
    const std::lock_guard hold(mutex);
    exit_handler last{exit_handler::kind::plain, nullptr, nullptr};
    if (!from.empty()) {
      last = from.back();
      from.pop_back();
    }
    return last;
  };
  const auto call = [status](const exit_handler& h) {
    if (h.of == exit_handler::kind::with_status)
      reinterpret_cast<void (*)(int, void*)>(h.function)(status, h.argument);
    else
      reinterpret_cast<void (*)(void*)>(h.function)(h.argument);
  };
  if (ends == rank_end::at_once) return;
  std::vector<exit_handler>& last_ones = ends == rank_end::quick ? at_quick_exit : at_exit;
  if (ends == rank_end::normal)
    for (exit_handler h = take(at_thread_exit); h.function != nullptr; h = take(at_thread_exit)) call(h);
  for (exit_handler h = take(last_ones); h.function != nullptr; h = take(last_ones)) {
    call(h);
    while (ends == rank_end::normal) {  // a handler may use such variables
      h = take(at_thread_exit);
      if (h.function == nullptr) break;
      call(h);
    }
  }
}

}  // namespace shoal::host

using shoal::host::rank_libc;

// Called by the start object of a copy before the copy's constructors.
SHOAL_INTERPOSED void shoal_mpi_host_begin(const shoal_copy* copy) {
  *copy->environment = shoal::host::rank_environment();
  shoal::host::make_streams(copy->streams);
  rank_libc* const mine = shoal::host::calling_libc();
  if (mine == nullptr) return shoal::host::note_shared_copy(copy->handle);
  mine->copy = copy->handle;
  mine->environment = copy->environment;
}
