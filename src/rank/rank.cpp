// SPDX-License-Identifier: Apache-2.0
#include "rank/rank.hpp"

#include <algorithm>

#include "base/thread_value.hpp"
#include "rank/communicator_table.hpp"
#include "rank/message.hpp"
#include "rank/program_call.hpp"
#include "rank/unhosted.hpp"

namespace shoal::rank {
namespace {

thread_local rank_state* t_rank = nullptr;
const base::thread_value k_rank_of_thread(+[]() noexcept { return &t_rank; });

int first_of_machine(const job_ranks::shape& of) noexcept {
  const auto first = std::ranges::find_if(of.processes, [](int process) { return process != 0; });
  return first == of.processes.end() ? static_cast<int>(of.node) : static_cast<int>(first - of.processes.begin());
}

}  // namespace

bool job_ranks::is_on_one_machine() const noexcept {
  return shape_.nodes == 1 || (!shape_.processes.empty() && std::ranges::count(shape_.processes, 0) == 0);
}

constinit unhosted_maker make_unhosted = nullptr;

rank_state* thread_rank() noexcept { return t_rank; }
void set_thread_rank(rank_state* of) noexcept { t_rank = of; }

calling_thread* thread_of_call() noexcept {
  sched::worker* const w = sched::this_worker();
  return w == nullptr ? nullptr : static_cast<calling_thread*>(w->begun().caller);
}

rank_state::rank_state(job_ranks& of, int world_rank, int number_here, sched::worker& worker, request_pool& requests)
    : job(of), world(world_rank), local(number_here), home(worker), pool(requests) {}

// Messages that nobody has received.
rank_state::~rank_state() {
  queues.clear([](waiting_message& w) { message::end(message::of(w)); });
}

[[gnu::noinline]] void rank_state::add_probe(probe& p) noexcept { probes = &p; }

void rank_state::leave_attached_buffer(std::uint64_t bytes) noexcept {
  // Partner: await_attached_buffer(), which stores `detaching` and then looks again.
  if (attached_used.fetch_sub(bytes, std::memory_order_seq_cst) != bytes) return;
  if (detail::suspended* const task = detaching.exchange(nullptr, std::memory_order_seq_cst); task != nullptr)
    detail::wake(task);
}

void rank_state::await_attached_buffer(const wait_note& note) noexcept {
  while (attached_used.load(std::memory_order_seq_cst) != 0) {
    detaching.store(detail::this_task(), std::memory_order_seq_cst);
    if (attached_used.load(std::memory_order_seq_cst) == 0 &&
        detaching.exchange(nullptr, std::memory_order_seq_cst) != nullptr)
      return;
    if (the_profile != nullptr) [[unlikely]]
      wait_profiled(note, nullptr);
    else
      detail::leave(detail::wait_kind::message, &note);
  }
}

job_ranks::job_ranks(const shape& of, std::vector<sched::worker*> workers)
    : shape_(of),
      first_(static_cast<int>(of.node * of.ranks_per_node)),
      machine_(first_of_machine(of)),
      windows_(of.nodes),
      communicators_(std::make_unique<communicator_table>()) {
  for (std::size_t i = 0; i < workers.size(); ++i) pools_.push_back(std::make_unique<request_pool>());
  const int n = static_cast<int>(of.ranks_per_node);
  for (int i = 0; i < n; ++i) {
    const std::uint32_t w = worker_of(i);
    ranks_.push_back(std::make_unique<rank_state>(*this, first_ + i, i, *workers[w], *pools_[w]));
  }
  world_ = communicators_->make(*this, k_world_context, group::of_range(0, size()), nullptr);
  world_->name_all("MPI_COMM_WORLD");
}

communicator& job_ranks::closing() {
  std::call_once(closing_made_, [this] {
    closing_ = communicators_->make(*this, k_closing_context, group::of_range(0, size()), nullptr);
    closing_->name_all("MPI_COMM_WORLD");
  });
  return *closing_;
}

job_ranks::~job_ranks() { release_last_memory(); }

communicator& job_ranks::self_of(rank_state& r) {
  if (!r.self) {
    r.self = communicators_->make(*this, self_context(r.world), group::of_range(r.world, 1), nullptr);
    r.self->name_all("MPI_COMM_SELF");
  }
  return *r.self;
}

}  // namespace shoal::rank
