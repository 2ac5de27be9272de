// SPDX-License-Identifier: Apache-2.0
// Work that moves between nodes (shoal/anywhere.hpp), on one node: asks others for work, gives half of what waits here,
// and tells when groups have ended.
// Who may call: its functions workers of the node; the receivers run inside polls. Only wait() and close() switch tasks.
// Asking: a worker that finds nothing asks one random node after the other, then, once each, the nodes along its
// lifelines (lifelines.hpp); these remember it, and send work when they have some. A node begins as one whose lifelines
// are all remembered, so that a job that moves no work sends nothing.
// The end of a group (Dijkstra, Scholten: Termination detection for diffusing computations, 1980): the tasks of a group
// that move in one message count as one task of the sender, which ends when the receiver says so. A node without tasks of
// the group says so when all its tasks of the group have ended (task_cells.hpp), those it has sent on as well; any other
// node at once. So each node owes one end to one other, these debts form a tree whose root is the group's own node, and
// all have ended when that node has counted all. One short message per message with tasks; nothing per task.
// Tests: tests/cluster/anywhere_test.cpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/rough_time.hpp"
#include "remote/failure.hpp"
#include "sched/pool.hpp"
#include "shoal/detail/anywhere_task.hpp"
#include "shoal/detail/completion.hpp"
#include "shoal/detail/loop_stop.hpp"
#include "shoal/detail/message.hpp"

namespace shoal::cluster {

class work_moves final : public sched::work_source {
public:
  /// Before the workers start.
  work_moves(std::uint32_t node, std::uint32_t nodes, sched::pool& pool);

  // --- a worker without work, and one that polls ---
  void seek(sched::worker& w) noexcept override;
  void tend(sched::worker& w) noexcept override;

  /// The job is ending: this node asks for nothing any more.
  void stop_asking() noexcept { stopped_.store(true, std::memory_order_relaxed); }
  /// Whether this node has sent anything about work.
  bool has_sent() const noexcept { return has_sent_.load(std::memory_order_relaxed); }

  // --- groups ---
  detail::group_part& open(const detail::scope* s);
  void close(detail::group_part& g) noexcept;
  bool wait(detail::group_part& g, detail::time_limit until);
  void rethrow(detail::group_part& g);
  void fail(detail::group_part& g, remote::failure f) noexcept;
  void note_end(detail::worker_base& w, detail::group_part& g) noexcept;

  // --- giving ---
  bool is_wanted() const noexcept { return wanted_.load(std::memory_order_relaxed) != 0; }
  /// A task that may move has begun to wait on this worker, and is_wanted().
  void begun(sched::worker& w) noexcept;
  /// Serves one of the nodes that wait for work, if more than `kept` tasks wait on this worker.
  void offer(sched::worker& w, std::size_t kept) noexcept;

  // --- what arrives ---
  void asked(const detail::arrival& a) noexcept;
  void answered(const detail::arrival& a) noexcept;
  void got_tasks(const detail::arrival& a) noexcept;
  void got_end(const detail::arrival& a) noexcept;

  /// How many requests this node has sent. Any thread; for tests.
  std::uint64_t requests() const noexcept { return requests_.load(std::memory_order_relaxed); }
  /// How many groups have tasks here, or are open here.
  std::size_t groups() const;

private:
  static constexpr std::uint32_t k_nobody = ~std::uint32_t{0};
  static constexpr unsigned k_random_requests = 2;
  static constexpr unsigned k_most_returned = 32;  // tasks that cannot move, per answer
  static constexpr std::uint64_t k_look_ticks = 1'000'000 * base::rough_time::k_per_ns;

  // The part of a group, with what only this layer uses: under lock_, but for what is constant while it has tasks.
  struct part final : detail::group_part {
    std::uint64_t key = 0;             // 0: of no group
    std::uint32_t parent = k_nobody;   // that is told of the end; k_nobody: the group is this node's
    bool awaited = false;              // the end will be told to `ended`
    std::atomic<bool> waiting{false};  // the task that opened the group, in wait()
    detail::completion ended;
    // Names the requests of the group's scope on its own node; 0: it has no scope, or no task has left that node.
    std::uint64_t stop_id = 0;
    std::optional<detail::stop_forwarding> forwarding;  // on the group's own node, once a task has left
    std::optional<detail::share_stop> stop;             // on other nodes: what `scope` is there
    std::optional<remote::failure> failure;             // the first
  };
  struct alignas(64) of_worker {
    detail::group_part* noted = nullptr;  // in which tasks have ended here since the last look
    std::uint64_t looked = 0;
    std::vector<detail::task*> taken;
    std::vector<std::uint64_t> words;
  };

  part& enter(std::uint64_t key, std::uint64_t stop_word, std::uint64_t count, const detail::arrival& a);
  std::uint64_t stop_word_of(part& p) noexcept;
  part& make_part(std::uint64_t key, std::uint32_t parent);
  bool all_ended(const part& p) const noexcept;
  void look(part& p) noexcept;
  void look_at_noted(sched::worker& w) noexcept;
  bool any_waits_here() noexcept;
  void ask(sched::worker& w, std::uint32_t node, std::uint64_t line) noexcept;
  void send_now(sched::worker& w, std::uint32_t node, detail::receiver function,
                std::span<const std::uint64_t> words) noexcept;
  bool give(sched::worker& w, std::uint32_t to) noexcept;
  void take(sched::worker& w) noexcept;
  void send_tasks(sched::worker& w, std::uint32_t to, detail::group_part* g) noexcept;
  void add_lifeline(unsigned k) noexcept { wanted_.fetch_or(std::uint64_t{1} << k, std::memory_order_relaxed); }

  const std::uint32_t node_;
  const std::uint32_t nodes_;
  const std::uint64_t lines_;  // a bit for each lifeline
  sched::pool& pool_;
  const std::unique_ptr<of_worker[]> workers_;

  // Asking. Whoever sets asking_ owns attempts_ until the answer.
  std::atomic<bool> asking_{false};      // partners: the workers that seek, the one that gets the answer
  std::atomic<bool> may_ask_{false};     // work has come or gone since the lifelines were asked
  std::atomic<std::uint64_t> asked_{0};  // by lifeline: the node at its end has been asked, and has not given yet
  std::atomic<bool> has_sent_{false};
  std::atomic<bool> stopped_{false};  // partners: stop_asking() and the workers
  unsigned attempts_ = 0;
  std::uint64_t victims_ = 0;  // random numbers used
  std::atomic<std::uint64_t> requests_{0};

  // By lifeline: its node waits for work; and k_none_begun: no task that may move has begun to wait since one was looked
  // for in vain. Partners: workers that give, and those that begin such tasks.
  static constexpr std::uint64_t k_none_begun = std::uint64_t{1} << 63;
  std::atomic<std::uint64_t> wanted_{0};

  mutable std::mutex lock_;                         // never held over a wait or a message
  std::unordered_map<std::uint64_t, part*> parts_;  // of groups with tasks here, or opened here
  std::vector<std::unique_ptr<part>> all_parts_;
  std::vector<part*> free_parts_;
  std::uint64_t groups_opened_ = 0;
};

}  // namespace shoal::cluster
