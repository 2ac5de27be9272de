// SPDX-License-Identifier: Apache-2.0
// The parts of groups on this node, and how their ends are found and told (work_moves.hpp).
#include <atomic>
#include <exception>
#include <mutex>
#include <utility>

#include "cluster/loop_stops.hpp"
#include "cluster/work_moves.hpp"
#include "sched/worker.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/detail/port.hpp"

namespace shoal::cluster {
namespace {

using detail::arrival;
using detail::group_part;

constexpr unsigned k_group_node_shift = 40;  // a key: the node that opened the group, and its number there
[[maybe_unused]] constexpr const char* k_misshapen_end =
    "another node has told of the end of a group that it got nothing of: the nodes' programs differ";

void receive_end(const arrival& a) noexcept { a.worker.port->context->moves->got_end(a); }

}  // namespace

auto work_moves::make_part(std::uint64_t key, std::uint32_t parent) -> part& {
  if (free_parts_.empty()) {
    free_parts_.reserve(all_parts_.size() + 1);
    all_parts_.push_back(std::make_unique<part>());
    free_parts_.push_back(all_parts_.back().get());
    part& p = *free_parts_.back();
    p.cells.reset(new group_part::cell[pool_.size()]);
    p.wanted = &wanted_;
  }
  part& p = *free_parts_.back();
  parts_.emplace(key, &p);
  free_parts_.pop_back();
  p.key = key;
  p.parent = parent;
  p.failed.store(false, std::memory_order_relaxed);
  p.scope = nullptr;
  p.stop_id = 0;
  return p;
}

// Tasks of a group have arrived, and count from now on.
auto work_moves::enter(std::uint64_t key, std::uint64_t stop_word, std::uint64_t count, const arrival& a) -> part& {
  const auto home = static_cast<std::uint32_t>(key >> k_group_node_shift);
  // The request may come behind these tasks. On its own node it is known, and no message to forget it comes there.
  if ((stop_word & 1) != 0 && home != node_) a.worker.port->context->stops->request({home, stop_word >> 1});
  part* p = nullptr;
  bool owes = false;  // this node the end
  {
    const std::lock_guard hold(lock_);
    const auto at = parts_.find(key);
    owes = at == parts_.end();
    p = owes ? &make_part(key, a.from) : at->second;
    if (owes && stop_word != 0) {
      p->stop_id = stop_word >> 1;
      p->scope = &p->stop.emplace(home, p->stop_id);
    }
    p->cells[a.worker.index].count.begin(count);
  }
  if (!owes) send_now(static_cast<sched::worker&>(a.worker), a.from, detail::receiver_of<receive_end>(), {&key, 1});
  return *p;
}

detail::group_part& work_moves::open(const detail::scope* s) {
  const std::lock_guard hold(lock_);
  part& p = make_part(std::uint64_t{node_} << k_group_node_shift | ++groups_opened_, k_nobody);
  p.scope = s;
  return p;
}

// A word of each message with tasks: stop_id, and in bit 0 whether a stop has been requested; 0: the group has no scope.
// Requests are forwarded to all nodes from the first such message on: most groups send none.
std::uint64_t work_moves::stop_word_of(part& p) noexcept {
  if (p.scope == nullptr) return 0;
  if (p.parent == k_nobody) {
    const std::lock_guard hold(lock_);
    if (!p.forwarding) p.stop_id = p.forwarding.emplace(p.scope->token()).id();
  }
  return p.stop_id << 1 | (p.scope->token().stop_requested() ? 1 : 0);
}

void work_moves::close(group_part& g) noexcept {
  auto& p = static_cast<part&>(g);
  p.forwarding.reset();  // waits until no node has anything left of a request
  std::optional<remote::failure> dropped;
  {
    const std::lock_guard hold(lock_);
    parts_.erase(p.key);
    p.key = 0;
    dropped.swap(p.failure);
    free_parts_.push_back(&p);
  }
  if (dropped) detail::report_dropped(std::make_exception_ptr(dropped->as_error()));
}

// Under lock_.
bool work_moves::all_ended(const part& p) const noexcept {
  return detail::task_cell::all_ended(
      pool_.size(), [&](std::size_t i) -> auto& { return p.cells[i].count; });
}

// `ended` has one operation from the beginning of a wait until look() tells the end. A wait that gives up leaves it there;
// the next one takes it back, if look() has not begun to tell it, or waits for it: after a wait nobody touches the part.
bool work_moves::wait(group_part& g, detail::time_limit until) {
  auto& p = static_cast<part&>(g);
  const bool second = p.waiting.exchange(true, std::memory_order_relaxed);
  SHOAL_ASSERT(!second, "an anywhere_group is waited for by one task, which is none of its own");
  const struct at_exit {
    ~at_exit() { waiting.store(false, std::memory_order_relaxed); }
    std::atomic<bool>& waiting;
  } over{p.waiting};
  for (;;) {
    bool told_later = true;
    {
      const std::lock_guard hold(lock_);
      const bool all = all_ended(p);
      if (all && std::exchange(p.awaited, false)) p.ended.ran_here();
      if (p.ended.nothing_begun()) {
        if (all) {
          detail::acquire_from(&g);
          return true;
        }
        p.ended.add();
        p.awaited = true;
      }
      told_later = p.awaited;  // else look() is telling it now
    }
    if (!told_later || until.due_ns() == detail::time_limit::k_never)
      p.ended.wait(detail::wait_kind::children);
    else if (!p.ended.wait_until(until))
      return false;
  }
}

void work_moves::rethrow(group_part& g) {
  auto& p = static_cast<part&>(g);
  std::optional<remote::failure> failure;
  {
    const std::lock_guard hold(lock_);
    failure.swap(p.failure);
    p.failed.store(false, std::memory_order_relaxed);
  }
  if (failure) throw failure->as_error();
}

void work_moves::fail(group_part& g, remote::failure f) noexcept {
  auto& p = static_cast<part&>(g);
  const std::lock_guard hold(lock_);
  if (!p.failure) p.failure = std::move(f);
  p.failed.store(true, std::memory_order_relaxed);
}

void work_moves::note_end(detail::worker_base& w, group_part& g) noexcept {
  group_part::cell& mine = g.cells[w.index];
  mine.noted = true;
  mine.next = std::exchange(workers_[w.index].noted, &g);
}

void work_moves::look_at_noted(sched::worker& w) noexcept {
  const detail::tsan_ignore_scope ignore;
  of_worker& mine = workers_[w.index];
  if (mine.noted == nullptr) return;
  group_part* g = std::exchange(mine.noted, nullptr);
  while (g != nullptr) {
    group_part::cell& c = g->cells[w.index];
    c.noted = false;
    look(static_cast<part&>(*std::exchange(g, c.next)));
  }
}

// It may have been closed, and opened for another group: then this look is one too many.
void work_moves::look(part& p) noexcept {
  std::uint64_t key = 0;
  std::uint32_t parent = k_nobody;
  std::optional<remote::failure> failure;
  {
    const std::lock_guard hold(lock_);
    if (p.key == 0 || (p.parent == k_nobody && !p.awaited)) return;
    if (!all_ended(p)) return;
    parent = p.parent;
    if (parent == k_nobody) {
      p.awaited = false;
    } else {
      key = std::exchange(p.key, 0);
      parts_.erase(key);
      failure.swap(p.failure);
      detail::acquire_from(static_cast<group_part*>(&p));
      p.stop.reset();
      free_parts_.push_back(&p);
    }
  }
  if (parent == k_nobody) return p.ended.done();
  auto& w = *sched::this_worker();
  if (failure)
    send_now(w, parent, detail::receiver_of<receive_end>(), remote::pack_failure(key, *failure));
  else
    send_now(w, parent, detail::receiver_of<receive_end>(), {&key, 1});
}

void work_moves::got_end(const arrival& a) noexcept {
  SHOAL_ASSERT(!a.payload.empty(), k_misshapen_end);
  part* p = nullptr;
  {
    const std::lock_guard hold(lock_);
    const auto at = parts_.find(a.payload[0]);
    SHOAL_ASSERT(at != parts_.end(), k_misshapen_end);
    p = at->second;
  }
  if (a.payload.size() > 1) fail(*p, remote::read_failure(a.payload));
  p->cells[a.worker.index].count.end();
  look(*p);
}

}  // namespace shoal::cluster

namespace shoal::detail {
namespace {

cluster::work_moves& moves_here() {
  SHOAL_ASSERT(worker_here().port != nullptr, k_needs_job);
  return *port_here().context->moves;
}

}  // namespace

group_part& open_group(const scope* s) { return moves_here().open(s); }
void close_group(group_part& g) noexcept { moves_here().close(g); }
bool wait_for_group(group_part& g, time_limit until) { return moves_here().wait(g, until); }
void rethrow_failure(group_part& g) { moves_here().rethrow(g); }
void fail_group(group_part& g) noexcept { moves_here().fail(g, remote::current_failure(port_here().node)); }
void note_end(worker_base& w, group_part& g) noexcept { w.port->context->moves->note_end(w, g); }

}  // namespace shoal::detail
