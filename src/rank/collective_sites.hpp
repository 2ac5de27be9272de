// SPDX-License-Identifier: Apache-2.0
// Where the members of a communicator that are in this process meet for collective operations: each leaves what it has
// called, and the last one to come gets the site, to carry the operation out and to end it. The members of one worker
// are a lane: they count without a lock or an atomic operation, and the last of them counts for the lane. Sites are used
// again, so operations that follow each other allocate nothing.
// Who may call: arrive() and end_lane() a worker for its own lane. Nothing here switches tasks. Complexity: O(1) per
// member.
// Test: tests/unit/rank/collective_sites_test.cpp.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "mpi-abi/mpi.h"
#include "sched/worker.hpp"

namespace shoal::rank {

struct collective_call;
class collective_sites;

/// Operations of a communicator are numbered as they are called. Persistent ones have numbers of their own, which this
/// bit tells apart: that of the call that has made them, times two, plus 0 and 1 in turn. So the starts of different ones
/// need no order; and no member begins the start after the next before the others have left the first.
inline constexpr std::uint64_t k_persistent_collective = std::uint64_t{1} << 63;

/// What a member leaves.
struct collective_arrival {
  collective_call* call = nullptr;    // nullptr: MPI_Barrier, which has nothing to say
  detail::suspended* task = nullptr;  // waits for the end; nullptr: the call's request completes
};

/// One operation.
struct collective_site {
  struct ending final : sched::errand {
    collective_site* of = nullptr;
    std::size_t lane = 0;
  };
  /// Of one worker.
  struct alignas(64) part {
    std::size_t missing = 0;    // members that have not come
    bool has_calls = false;     // not only MPI_Barrier
    bool has_requests = false;  // not only tasks that wait
    ending by_errand;
  };
  collective_site(collective_sites& of, std::size_t members, std::size_t lanes);
  ~collective_site();

  /// Once all have come.
  bool has_calls() const noexcept;

  collective_sites& owner;
  std::uint64_t sequence = 0;
  int error = MPI_SUCCESS;                         // with which it has ended
  std::unique_ptr<collective_arrival[]> arrivals;  // by member
  std::unique_ptr<part[]> parts;                   // by lane
  std::vector<collective_call*> calls;             // for who carries it out; none: all have called MPI_Barrier
  std::vector<std::unique_ptr<collective_call>> barriers;
  std::atomic<std::size_t> lanes_missing{0};  // partners: the last members of the lanes
  std::atomic<std::size_t> lanes_open{0};     // not ended; partners: the lanes' ends
};

class collective_sites : public std::enable_shared_from_this<collective_sites> {
public:
  /// `homes`: the worker of each member.
  explicit collective_sites(std::span<sched::worker* const> homes);
  ~collective_sites();

  /// Member `index` has come to operation `sequence`. The operation if it is the last member of all; else nullptr.
  collective_site* arrive(std::size_t index, std::uint64_t sequence, const collective_arrival& mine);

  std::size_t members() const noexcept { return lane_of_.size(); }
  std::size_t lanes() const noexcept { return lanes_.size(); }
  sched::worker* home(std::size_t lane) const noexcept { return lanes_[lane].home; }
  /// Calls f(arrival) for each member of the lane, when the operation has ended; then the lane has left the site, and
  /// the last one to do so gives it back.
  template <class F>
  void end_lane(collective_site& site, std::size_t lane, const F& f) {
    const fiber::tsan_ignore_scope ignore;
    lanes_[lane].open.remove(site);
    for (const std::uint32_t member : lanes_[lane].members) f(site.arrivals[member]);
    leave(site);
  }

private:
  // Operations by their sequence, persistent ones apart. As long as the distance between the oldest and the newest one.
  class open_sites {
  public:
    collective_site* find(std::uint64_t sequence) const noexcept {
      const ring& all = rings_[sequence >> 63];
      collective_site* const at = all.empty() ? nullptr : all[sequence & (all.size() - 1)];
      return at != nullptr && at->sequence == sequence ? at : nullptr;
    }
    void add(collective_site& site);
    void remove(const collective_site& site) noexcept {
      ring& all = rings_[site.sequence >> 63];
      all[site.sequence & (all.size() - 1)] = nullptr;
    }

  private:
    using ring = std::vector<collective_site*>;
    std::array<ring, 2> rings_;
  };
  struct alignas(64) worker_lane {
    sched::worker* home = nullptr;
    open_sites open;
    std::vector<std::uint32_t> members;
  };

  collective_site& open(worker_lane& of, std::uint64_t sequence);
  void leave(collective_site& site) noexcept;

  std::vector<worker_lane> lanes_;
  std::vector<std::uint32_t> lane_of_;  // by member
  std::mutex mutex_;                    // of what follows
  open_sites open_;                     // if there are several lanes
  std::vector<std::unique_ptr<collective_site>> all_;
  std::vector<collective_site*> free_;
};

}  // namespace shoal::rank
