// SPDX-License-Identifier: Apache-2.0
#include "runtime/node.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <span>
#include <utility>

#include "base/log.hpp"
#include "machine/memory_info.hpp"
#include "runtime/mpi_job.hpp"
#include "runtime/profile_report.hpp"
#include "shoal/array.hpp"
#include "shoal/detail/call_tree.hpp"
#include "shoal/detail/completion.hpp"
#include "shoal/detail/message.hpp"
#include "shoal/on.hpp"
#include "shoal/task.hpp"

namespace shoal::runtime {
namespace {

remote::node_ports::setup port_setup(const node_parts& parts, net::transport& transport, const array::node_memory& m,
                                     detail::node_context& context) {
  remote::node_ports::setup s;
  s.transport = &transport;
  s.context = &context;
  s.workers = parts.settings->workers;
  s.request_threads = parts.nodes > 1 ? parts.settings->helpers : 0;
  s.segment_bytes = m.capacity_bytes();
  s.by_network_bytes = parts.settings->one_sided_bytes;
  s.send_after_us = parts.settings->send_after_us;
  s.call_bytes = parts.settings->call_memory;
  s.overflow_bytes = parts.settings->overflow_memory;
  if (s.overflow_bytes == 0) {
    const std::uint32_t sharing = parts.nodes_on_machine == 0 ? parts.nodes : parts.nodes_on_machine;
    s.overflow_bytes = std::max(machine::memory_info().usable_bytes() / 16 / sharing, std::uint64_t{1} << 20);
  }
  s.mapped_elsewhere = parts.nodes > 1 && parts.settings->direct;
  return s;
}

// A rank whose long message is being copied waits longer than a task for an element.
constexpr unsigned k_rank_spin_rounds = 300;

sched::pool_options pool_setup(const node_parts& parts) {
  sched::pool_options o = scheduler_options(*parts.settings, parts.node);
  if (!parts.settings->spin && hosts_mpi_program()) o.spin_rounds = k_rank_spin_rounds;
  o.processors = parts.processors;
  o.processors_for_it = parts.processors_for_it;
  o.where = parts.where;
  return o;
}

// The value of `stop` once node 0's message has arrived, before or after the serving task began to wait.
detail::suspended* const k_stopped = reinterpret_cast<detail::suspended*>(1);

void receive_stop(const detail::arrival& a) noexcept {
  auto& stop = a.worker.port->context->stop;
  if (detail::suspended* server = stop.exchange(k_stopped, std::memory_order_acq_rel); server != nullptr)
    detail::wake(server);
}

template <bool RefuseThreads>
std::size_t wait_for_detached_here(std::uint32_t, std::span<const std::uint64_t>, std::uint64_t* answer) {
  cluster::work_moves& moves = *detail::this_port().context->moves;
  moves.stop_asking();
  sched::pool& pool = sched::this_worker()->owner();
  answer[0] = RefuseThreads ? pool.wait_and_refuse_threads() : pool.wait_for_detached();
  if (moves.has_sent()) detail::settle_workers();  // no request or answer is in flight to a node that has ended
  return 1;
}

std::size_t add_begun(std::uint32_t, std::span<const std::uint64_t>, std::uint64_t* answers) {
  answers[0] += answers[1];
  return 1;
}

// Waits on every node until no detached work is left there; gives how much has begun so far on all.
template <bool RefuseThreads>
std::uint64_t wait_for_detached_everywhere() {
  std::array<std::uint64_t, detail::k_tree_words + 1> words{};
  detail::call_tree tree(detail::all_nodes_row(), detail::callee_of<wait_for_detached_here<RefuseThreads>>(),
                         detail::callee_of<add_begun>(), 1);
  detail::completion calls;  // after the tree: waits before it goes
  tree.begin(calls, words, detail::call_tree::own_part::called);
  calls.wait_and_rethrow();
  return tree.combined({})[0];
}

template <class F>
void begin_as_task(submissions& to, F body) {
  to.begin(std::make_unique<detail::promised<F, void>>(std::in_place, std::move(body)));
}

}  // namespace

node::node(node_parts parts)
    : node_(parts.node),
      nodes_(parts.nodes),
      wish_(parts.settings->profiling),
      processes_(std::move(parts.processes)),
      hang_ns_(parts.settings->hang_ns),
      transport_(std::move(parts.transport)),
      memory_(*parts.segment, parts.bases, parts.node,
              {parts.settings->pages, parts.nodes_on_machine == 0 ? parts.nodes : parts.nodes_on_machine,
               parts.node == 0 || !processes_.empty()}),
      teams_(parts.node),
      promises_(parts.node),
      algorithms_(parts.settings->algorithms),
      context_{.node = node_,
               .nodes = nodes_,
               .bases = memory_.bases(),
               .generations = memory_.arrays().generations(),
               .readers = memory_.arrays().readers(),
               .memory = &memory_,
               .teams = &teams_,
               .stops = &stops_,
               .promises = &promises_,
               .algorithms = &algorithms_,
               .restarted = parts.settings->restart},
      ports_(port_setup(parts, *transport_, memory_, context_)),
      pool_(pool_setup(parts), &ports_),
      moves_(node_, nodes_, pool_) {
  context_.moves = &moves_;
  profile_files_ = claim_profile_files(wish_, node_, nodes_);
  for (unsigned w = 0; w < pool_.size(); ++w) ports_.attach(pool_.at(w));
  if (!wish_.trace.folder.empty()) {
    tracing_.emplace(wish_.trace, node_, nodes_, pool_);
    for (unsigned w = 0; w < pool_.size(); ++w) ports_.at(w).trace_into(&tracing_->writer().ring(w));
  }
  if (nodes_ > 1 && parts.settings->helpers != 0)
    helpers_.emplace(*transport_, ports_, parts.settings->workers, parts.settings->helpers, pool_.executor());
}

// After its workers.
void node::end_messages() noexcept {
  for (unsigned w = 0; w < pool_.size(); ++w) ports_.at(w).trace_into(nullptr);
  helpers_.reset();
  transport_->finish(finished_);
}

// By a task of node 0, after its last main task. Detached work of one node may begin some on another before it ends: none
// is left if none began between two times at which each node had none. The first of these ends requests for work, the
// second their answers, and what threads begin.
void node::stop_others() {
  detail::port& p = detail::this_port();
  detail::settle_all(p);
  if (nodes_ > 1)
    for (std::uint64_t begun = wait_for_detached_everywhere<false>(), before = ~begun; begun != before;)
      before = std::exchange(begun, wait_for_detached_everywhere<true>());
  for (std::uint32_t n = 1; n < nodes_; ++n)
    detail::send(*detail::t_worker, n, detail::receiver_of<receive_stop>(), {});
  detail::settle_all(p);
  finished_ = true;
}

// By a task of another node.
void node::wait_for_stop() {
  if (context_.stop.exchange(detail::this_task(), std::memory_order_acq_rel) == nullptr)
    detail::leave(detail::wait_kind::end_of_job);
}

int node::run_main(const std::function<int()>& main_task) {
  int status = 0;
  struct ending {
    node& of;
    ~ending() {
      of.in_run_.store(false, std::memory_order_release);
      of.end_messages();
    }
  } const at_the_end{*this};
  in_run_.store(true, std::memory_order_release);  // what main tasks leave behind counts as theirs
  pool_.run([&] {
    try {
      begin_profile();
      sched::this_worker()->runs_code(nullptr);  // so that the trace knows what runs from the start
      status = main_task();
    } catch (...) {
      end_profile();
      stop_others();
      throw;
    }
    end_profile();
    stop_others();
  });
  return status;
}

void node::serve() {
  pool_.run([this] {
    begin_profile();
    sched::this_worker()->runs_code(nullptr);
    wait_for_stop();
    end_profile();
    finished_ = true;
  });
  end_messages();
}

void node::start() {
  pool_.start();
  begin_profile();
  if (node_ != 0) begin_as_task(own_tasks_, [this] { wait_for_stop(); });
}

void node::finish() {
  main_tasks_.close();
  if (node_ == 0) begin_as_task(own_tasks_, [this] { stop_others(); });
  own_tasks_.close();
  end_profile();
  pool_.finish();
  finished_ = true;
  end_messages();
}

void node::begin_profile() {
  if (wish_.on || tracing_) profiling_.emplace(shoal::begin_profile(pool_, wish_.options(nodes_)));
}

void node::end_profile() noexcept {
  if (!profiling_) return;
  try {
    const profile ended = profiling_->end();
    if (tracing_) tracing_->finish();
    if (!wish_.on) return;
    profile_ = ended;
    if (nodes_ == 1) return;
    const net::registered_memory registered = transport_->registered();
    profile_->transport = transport_->name();
    profile_->registrations = registered.times;
    profile_->registered_bytes = registered.bytes;
  } catch (const std::exception& e) {
    base::warn("the profile is lost: {}", e.what());
  }
}

void node::report_profile() const {
  if (profile_) runtime::report_profile(*profile_, profile_files_, node_, nodes_);
}

}  // namespace shoal::runtime
