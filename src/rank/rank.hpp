// SPDX-License-Identifier: Apache-2.0
// The ranks of a job, as one process sees them, and one of them. A rank is a task that is placed on a worker, and never
// leaves it: whatever is the rank's alone is used by that worker alone.
// Who may call: current_rank(), thread_rank() and set_thread_rank() anybody; the rest tasks on the rank's worker. Nothing here switches tasks.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "rank/communicator.hpp"
#include "rank/eager_windows.hpp"
#include "rank/error_codes.hpp"
#include "rank/matching.hpp"
#include "rank/request.hpp"
#include "sched/worker.hpp"
#include "shoal/detail/assert.hpp"

namespace shoal::rank {

class communicator_table;
struct message;
struct rank_exit;

/// What the program of a rank has done of its start and end.
enum class life : std::uint8_t { before_init, initialized, finalized };

/// What a rank's program has set for its thread, such as a locale, and other ranks on the thread do not want. It is put
/// aside while the rank is in a call of MPI.
class thread_setting {
public:
  /// `function`: that the rank calls, for the traces.
  virtual void put_aside(const char* function) noexcept = 0;
  virtual void bring_back() noexcept = 0;
  thread_setting* next = nullptr;  // of the rank

protected:
  ~thread_setting() = default;
};

class alignas(64) rank_state {
public:
  rank_state(job_ranks& of, int world_rank, int number_here, sched::worker& worker, request_pool& requests);
  rank_state(const rank_state&) = delete;
  rank_state& operator=(const rank_state&) = delete;
  ~rank_state();

  job_ranks& job;
  const int world;  // its rank in MPI_COMM_WORLD
  const int local;  // its number in the process
  sched::worker& home;
  request_pool& pool;  // of the worker
  // So far one cache line: what every call of MPI reads.
  life stage = life::before_init;
  thread_setting* setting = nullptr;  // the first to be put aside; nullptr: none, or they are aside

  matching queues;
  std::atomic<std::uint64_t> eager_bytes{0};  // of messages sent ahead within the process; partners: their receivers
  /// Waits for the arrival of any message.
  struct probe {
    waiter* of;
    probe* next;
  };
  probe* probes = nullptr;
  void add_probe(probe& p) noexcept;
  void notify_probes() noexcept {
    for (probe* p = std::exchange(probes, nullptr); p != nullptr;) {
      probe* const next = p->next;  // the wait that has it ends
      p->of->complete_one();
      p = next;
    }
  }

  int thread_level = MPI_THREAD_SINGLE;
  unsigned sessions = 0;
  rank_exit* exit_to = nullptr;  // where its exit() goes
  // For reports, addresses behind calls of the program: of the Fortran procedure that runs, and of the collective
  // operation that this rank carries out.
  const void* fortran_call = nullptr;
  const void* carries_out_for = nullptr;
  bool by_session = false;  // initialized by a session, not by MPI_Init
  communicator_ref self;
  attribute_keys keys;
  // Where the values of predefined attributes are for the program.
  int universe_size = 0;
  int last_used_code = 0;
  error_codes added_errors;
  // How many partitioned requests it has made: by context, and by partner and tag.
  std::map<std::pair<context_id, std::uint64_t>, std::uint64_t> partitioned;
  std::map<MPI_Datatype, std::string> type_names;         // that it has given to predefined ones
  std::map<MPI_Datatype, attribute_set> type_attributes;  // of datatypes, which ranks do not share in a program's eyes
  error_handler_ref initial_errors;                       // of what has no other handler
  // The buffer of MPI_Buffer_attach.
  std::byte* attached = nullptr;
  std::uint64_t attached_bytes = 0;
  std::atomic<std::uint64_t> attached_used{0};         // partners: the receivers of what is in it
  std::atomic<detail::suspended*> detaching{nullptr};  // partner: leave_attached_buffer()
  void leave_attached_buffer(std::uint64_t bytes) noexcept;
  /// Returns when nothing is in it.
  void await_attached_buffer(const wait_note& note) noexcept;
  std::uint32_t next_serial = k_first_serial;  // of the communicators that it numbers, as their leader
  /// Outside of calls of MPI.
  void add_setting(thread_setting& s) noexcept {
    s.next = setting;
    setting = &s;
  }
  void remove_setting(thread_setting& s) noexcept {
    thread_setting** at = &setting;
    while (*at != nullptr && *at != &s) at = &(*at)->next;
    if (*at != nullptr) *at = s.next;
  }
};

/// The rank whose task runs; nullptr: none.
inline rank_state* current_rank() noexcept {
  sched::worker* const w = sched::this_worker();
  return w == nullptr ? nullptr : static_cast<rank_state*>(w->begun().local);
}
/// The rank that the calling thread, which runs no tasks, belongs to: that of the code that has made it; nullptr: none.
rank_state* thread_rank() noexcept;
void set_thread_rank(rank_state* of) noexcept;

class job_ranks {
public:
  struct shape {
    std::uint32_t node = 0;
    std::uint32_t nodes = 1;
    std::uint32_t ranks_per_node = 1;
    std::vector<int> processes;  // by node: its process, where memory can be read; empty: none can
  };
  /// Ranks are spread over `workers` in blocks.
  job_ranks(const shape& of, std::vector<sched::worker*> workers);
  job_ranks(const job_ranks&) = delete;
  job_ranks& operator=(const job_ranks&) = delete;
  ~job_ranks();

  const shape& form() const noexcept { return shape_; }
  int size() const noexcept { return static_cast<int>(shape_.nodes * shape_.ranks_per_node); }
  int size_here() const noexcept { return static_cast<int>(ranks_.size()); }
  std::uint32_t node_of(int world) const noexcept { return static_cast<std::uint32_t>(world) / shape_.ranks_per_node; }
  /// On which of its process's workers a rank of the world is.
  std::uint32_t worker_of(int world) const noexcept {
    const std::uint32_t local = static_cast<std::uint32_t>(world) % shape_.ranks_per_node;
    return static_cast<std::uint32_t>(std::uint64_t{local} * pools_.size() / shape_.ranks_per_node);
  }
  /// A number that ranks of one machine share: their processes can read each other's memory.
  int machine() const noexcept { return machine_; }
  /// Whether all processes of the job are known to be on one machine.
  bool is_on_one_machine() const noexcept;
  bool is_here(int world) const noexcept { return static_cast<std::uint32_t>(world - first_) < shape_.ranks_per_node; }
  /// A rank of this process, by its number here.
  rank_state& at(int local) const noexcept { return *ranks_[static_cast<std::size_t>(local)]; }
  /// A rank of this process, by its rank in the world.
  rank_state& here(int world) const noexcept { return at(world - first_); }

  communicator& world() const noexcept { return *world_; }
  /// Of all ranks, for MPI_Finalize alone: no call of the program meets there.
  communicator& closing();
  communicator& self_of(rank_state& r);
  communicator_table& communicators() noexcept { return *communicators_; }
  eager_windows& windows() noexcept { return windows_; }
  /// A little memory, to say that there is no more. Any thread, any number of times.
  void release_last_memory() noexcept { delete[] last_memory_.exchange(nullptr, std::memory_order_acq_rel); }
  std::atomic<bool> has_refused_file{false};  // partners: ranks that call functions of files
  /// MPI_INFO_ENV; set before the ranks start.
  std::unique_ptr<const info> environment;
  /// What a call that ends the whole job does; from runtime.
  void (*abort_job)(job_ranks& job, int status, const std::string& why) = nullptr;

private:
  const shape shape_;
  const int first_;
  const int machine_;
  eager_windows windows_;
  std::vector<std::unique_ptr<request_pool>> pools_;  // by worker
  std::unique_ptr<communicator_table> communicators_;
  std::vector<std::unique_ptr<rank_state>> ranks_;
  communicator_ref world_;
  std::once_flag closing_made_;
  communicator_ref closing_;
  static constexpr std::size_t k_last_bytes = std::size_t{64} << 10;
  std::atomic<std::byte*> last_memory_{new std::byte[k_last_bytes]};  // partners: those who release it
};

inline member_state* communicator::find_member(const rank_state& r) const noexcept {
  const auto at = static_cast<std::size_t>(r.local - first_);  // huge if it is below
  if (dense_) [[likely]]
    return at < here_ ? &members_[at] : nullptr;
  return search_member(r);
}

inline member_state& communicator::member(const rank_state& r) const noexcept {
  member_state* const found = find_member(r);
  SHOAL_CHECK(found != nullptr, "a rank uses a communicator that it is no member of");
  return *found;
}

inline void communicator_use::begin(communicator& of, const rank_state& by) noexcept {
  member_state* const member = &of.member(by);
  ++member->uses;
  end();
  of_ = &of;
  member_ = member;
}

}  // namespace shoal::rank
