// SPDX-License-Identifier: Apache-2.0
#include "sched/pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "base/log.hpp"
#include "machine/library_threads.hpp"
#include "machine/membarrier.hpp"
#include "machine/memory_info.hpp"
#include "machine/topology.hpp"
#include "sched/open_pools.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/detail/atomics.hpp"

namespace shoal::sched {
namespace {

// What a waiting task takes, at least: the first page of its stack, and what the system needs to map it.
constexpr std::size_t k_waiting_bytes = 4864;

machine::page_plan plan_of(machine::page_choice choice) {
  if (choice == machine::page_choice::small) return {};
  return machine::plan_pages(choice, machine::private_page_facts(), "tasks' stacks (setting stack_pages)");
}

std::size_t waiting_bytes_of(const pool_options& options, const machine::page_plan& pages) {
  return pages.large() ? std::max(options.stack_bytes, k_waiting_bytes) : k_waiting_bytes;
}

// Iterations of outermost loops, per worker. Half of the stacks are left to the tasks that these wait for.
std::size_t most_waiting(const pool_options& options, const machine::page_plan& pages, std::size_t stacks) {
  std::size_t bytes = options.most_waiting_bytes;
  if (bytes == 0) bytes = static_cast<std::size_t>(machine::memory_info().usable_bytes() / 4);
  const std::size_t by_memory =
      std::max(bytes / waiting_bytes_of(options, pages) / options.workers, worker::k_least_outermost);
  return std::min(by_memory, std::max<std::size_t>(stacks / 2 / options.workers, 1));
}

std::size_t most_stacks(const pool_options& options, const machine::page_plan& pages) {
  if (options.most_stacks != 0) return options.most_stacks;
  constexpr std::uint64_t k_most_stacks = std::uint64_t{64} << 20;
  const std::uint64_t bytes = pages.pool_page_bytes == 0
                                  ? machine::memory_info().usable_bytes()
                                  : machine::read_page_pool(pages.pool_page_bytes).free_pages * pages.pool_page_bytes;
  return static_cast<std::size_t>(std::min(bytes / waiting_bytes_of(options, pages), k_most_stacks));
}

std::size_t least_stacks(const pool_options& options) {
  return std::size_t{options.workers} * 2 * fiber::stack_region::lease_size(options.stack_bytes);
}

bool has_processor_for_each(const pool_options& options) {
  const unsigned processors =
      options.processors_for_it != 0 ? options.processors_for_it : options.executor->processors();
  return processors == 0 || options.workers <= processors;
}

struct main_task final : detail::task {
  const std::function<void()>* body = nullptr;
  pool* owner = nullptr;
  std::exception_ptr thrown;
};

}  // namespace

pool::pool(const pool_options& options, pool_hooks* above)
    : options_(options),
      map_(options.workers, options.where),
      hooks_(above != nullptr ? above : &none_),
      stack_pages_(plan_of(options.stack_pages)),
      region_(options.stack_bytes, most_stacks(options, stack_pages_), least_stacks(options), options.guards,
              stack_pages_),
      classes_(region_.capacity(), options.guards, stack_pages_),
      heavy_fences_(options.heavy_fences && machine::can_fence_all()),
      clock_(*options.executor),
      may_double_(has_processor_for_each(options)),
      native_notes_(std::make_unique<fiber::stack_notes[]>(options.workers)),
      lanes_(options.workers, signs_.urgent),
      active_(options.workers),
      made_(note_moment(*options.executor)),
      blocking_(*options.executor, options.most_blocking_threads) {
  SHOAL_ASSERT(options.workers >= 1, "a pool has at least one worker");
  if (!heavy_fences_) signs_.wake.word.store(1, std::memory_order_relaxed);
  const std::size_t waiting = most_waiting(options, stack_pages_, region_.capacity());
  if (!options_.steal) options_.steal = find_steal_policy(k_standard_steal_policy);
  for (unsigned i = 0; i < options.workers; ++i) workers_.push_back(std::make_unique<worker>(*this, i, waiting));
  place_sleepers();
  number_ = open_pool(*this);
}

// Each package begins a group of its own, while there are groups enough.
void pool::place_sleepers() {
  constexpr unsigned k_slots = lockfree::sleeper_map<>::k_group_slots;
  SHOAL_ASSERT(size() <= lockfree::sleeper_map<>::k_most_slots, "a pool has at most 2048 workers");
  const unsigned spare = lockfree::sleeper_map<>::k_most_groups - (size() + k_slots - 1) / k_slots;
  const bool apart = map_.packages() <= spare;  // each package may leave one group partly empty
  slots_.resize(size());
  for (unsigned p = 0, next = 0; p < map_.packages(); ++p) {
    if (apart) next = (next + k_slots - 1) / k_slots * k_slots;
    for (unsigned w = 0; w < size(); ++w) {
      if (map_.package(w) != p) continue;
      slots_[w] = next++;
      at_slot_.resize((slots_[w] / k_slots + 1) * k_slots, nullptr);
      at_slot_[slots_[w]] = workers_[w].get();
      all_reach_all_ = all_reach_all_ && workers_[w]->reaches_all();
    }
  }
  sleepers_.emplace(heavy_fences_ ? signs_.wake : fenced_sign_, groups(), all_reach_all_);
}

pool::~pool() { finish(); }

void pool::set_active(unsigned n) noexcept {
  if (!may_be_inactive()) return;
  n = std::clamp(n, 1U, size());
  const unsigned before = active_.exchange(n, std::memory_order_seq_cst);  // partner: worker::sleep_inactive()
  for (unsigned i = before; i < n; ++i) workers_[i]->ring();
}

void pool::pin(unsigned i) const noexcept {
  if (i < options_.processors.size() && options_.processors[i] >= 0) machine::pin_this_thread(options_.processors[i]);
}

std::string pool::thread_name(int node, unsigned worker) {
  constexpr std::size_t k_most_letters = 15;
  if (node < 0) return fmt::format("shoal-w{}", worker);
  std::string whole = fmt::format("shoal-{}-w{}", node, worker);
  return whole.size() <= k_most_letters ? whole : fmt::format("{}-w{}", node, worker);
}

void pool::start_thread(unsigned i) {
  const base::log_context log = base::current_log_context();
  threads_.push_back(executor().start_thread(thread_name(log.node, i), [this, i, log] {
    base::set_log_context(log);
    pin(i);
    at(i).run_thread();
  }));
}

// Called before the workers start: each that calls such a library is as many threads.
void pool::warn_of_library_threads() const {
  const unsigned processors = executor().processors();
  if (processors == 0 || !executor().has_real_clock()) return;
  const std::string set = machine::oversubscribing_library(size(), processors);
  if (!set.empty())
    base::warn(
        "{}: {} workers that call such a library use more threads than there are processors ({}), and all become slow; "
        "unset the variable, or lower SHOAL_WORKERS",
        set, size(), processors);
}

void pool::start_threads(unsigned first) {
  if (options_.single_threaded_libraries) warn_of_library_threads();
  node_ = base::current_log_context().node;
  threads_.reserve(size());
  try {
    for (unsigned i = first; i < size(); ++i) start_thread(i);
  } catch (...) {  // the system refuses a thread
    finish();
    throw;
  }
}

void pool::start() { start_threads(0); }

void pool::join() noexcept {
  for (auto& t : threads_) t->join();
  threads_.clear();
  close_pool(number_);
  wait_for_wakers();
}

void pool::wait_for_wakers() noexcept {
  for (std::uint32_t seen = wakers_.close(); wakers_.waits_for(seen); seen = wakers_.look())
    executor().wait(wakers_.word(), seen, machine::k_no_timeout, false);
}

void pool::end_wake_from_outside() noexcept {
  machine::executor& executor = *options_.executor;  // outlives the pool
  std::atomic<std::uint32_t>& word = wakers_.word();
  if (wakers_.leave()) executor.wake(word, 1, false);  // by its address: the pool may be gone
}

bool pool::begin_detached_from_outside() noexcept {
  const std::lock_guard hold(giving_);
  if (!refuses_threads_) begin_detached();
  return !refuses_threads_;
}

// Gives how much detached work had begun.
bool pool::refuse_threads_if_idle(std::uint32_t& begun) noexcept {
  const std::lock_guard hold(giving_);
  if (!detached_.none(&begun)) return false;
  refuses_threads_ = true;
  return true;
}

void pool::end_detached() noexcept {
  if (detail::suspended* const waiter = detached_.end(); waiter != nullptr) detail::wake(waiter);
}

std::uint32_t pool::wait_for_detached() noexcept {
  std::uint32_t begun = 0;
  while (detached_.must_block(detail::this_task(), &begun)) detail::leave(detail::wait_kind::end_of_job);
  return begun;
}

std::uint32_t pool::wait_and_refuse_threads() noexcept {
  std::uint32_t begun = 0;
  do wait_for_detached();
  while (!refuse_threads_if_idle(begun));
  return begun;
}

// By finish(), whose thread is no worker: a task waits, and wakes the thread.
void pool::refuse_threads_from_outside() noexcept {
  std::uint32_t begun = 0;
  if (refuse_threads_if_idle(begun)) return;
  struct waits final : errand {
    pool* of = nullptr;
    std::atomic<std::uint32_t> over{0};  // partners: this thread, the task
  } task;
  task.of = this;
  task.run = [](detail::task& t) noexcept {
    auto& self = static_cast<waits&>(static_cast<errand&>(t));
    machine::executor& executor = self.of->executor();
    self.of->wait_and_refuse_threads();
    std::atomic<std::uint32_t>& over = self.over;
    over.store(1, std::memory_order_release);
    executor.wake(over, 1, false);  // by its address: finish() may have gone on
  };
  submit(task);
  while (task.over.load(std::memory_order_acquire) == 0) executor().wait(task.over, 0, machine::k_no_timeout, false);
}

void pool::finish() noexcept {
  if (!threads_.empty()) refuse_threads_from_outside();
  stop();
  join();
}

void pool::submit(errand& e) noexcept {
  begin_wake_from_outside();
  fiber::release_to(static_cast<detail::task*>(&e));
  submitted_.push(&e);
  // Partner: the fence in worker::park(), before it looks for submitted tasks.
  lockfree::std_atomics::fence(std::memory_order_seq_cst);
  wake_one(nullptr);
  end_wake_from_outside();
}

bool pool::take_submitted(worker& w) {
  // The first worker takes them all; thieves find them there.
  auto* node = submitted_.take_all();
  if (node == nullptr) return false;
  while (node != nullptr) {
    auto* const next = node->next.read();
    auto& t = static_cast<errand&>(*node);
    fiber::release_to(static_cast<detail::task*>(&t));  // for TSan: the stack that runs it may be another one
    w.add_arrived(t);
    node = next;
  }
  return true;
}

void pool::run(const std::function<void()>& body) {
  SHOAL_ASSERT(detail::t_worker == nullptr, "shoal::run is called from a task; begin tasks with a task_group instead");
  start_threads(1);
  const machine::affinity_scope until_the_end;  // the calling thread belongs to the program
  pin(0);
  main_task first;
  first.body = &body;
  first.owner = this;
  first.run = [](detail::task& t) noexcept {
    auto& m = static_cast<main_task&>(t);
    this_worker()->runs_code(nullptr);  // the only one that nothing names
    detail::set_outermost(true);
    try {
      (*m.body)();
    } catch (...) {
      m.thrown = std::current_exception();
    }
    detail::set_outermost(false);
    m.owner->wait_and_refuse_threads();
    m.owner->stop();
  };
  at(0).begin_with(first);
  at(0).run_thread();
  join();
  if (first.thrown) std::rethrow_exception(first.thrown);
}

bool pool::owns(const void* notes) const noexcept {
  // Tasks that wait for locks ask, at every step from holder to holder: no loop over the workers here.
  const std::uintptr_t offset =
      reinterpret_cast<std::uintptr_t>(notes) - reinterpret_cast<std::uintptr_t>(native_notes_.get());
  const bool is_native =
      offset < workers_.size() * sizeof(fiber::stack_notes) && offset % sizeof(fiber::stack_notes) == 0;
  return is_native || region_.is_place_of_notes(notes);
}

// O(workers), at the end of the pool only: a load for each thread that is not parked.
void pool::stop() noexcept {
  {
    const std::lock_guard hold(giving_);  // what was given before is found by the workers when they end
    stopping_.store(true, std::memory_order_release);
  }
  for (auto& w : workers_) w->ring();
}

bool pool::give_unless_stopping(const std::function<void()>& begin) {
  const std::lock_guard hold(giving_);
  if (stopping()) return false;
  begin();
  return true;
}

void pool::wake_one(const worker* from) noexcept {
  // Partner: the fence in worker::park().
  if (!heavy_fences_) lockfree::std_atomics::fence(std::memory_order_seq_cst);
  lockfree::sleeper_map<>& map = *sleepers_;
  if (map.searches()) {
    const unsigned slot = map.wake_one(from != nullptr ? slots_[from->index] : 0);
    // One that something else has woken searches, too, or wakes the next.
    if (slot != lockfree::sleeper_map<>::k_nobody) at_slot_[slot]->ring();
    return;
  }
  const auto may = [this, from](unsigned slot) { return from == nullptr || at_slot_[slot]->reaches(from->index); };
  for (unsigned slot = 0; (slot = map.take_one_of(groups(), may)) != lockfree::sleeper_map<>::k_nobody;)
    if (at_slot_[slot]->ring()) return;  // else it is awake for something else: on to the next
}

void pool::hand_search_on(const worker& from, bool plenty) noexcept {
  const unsigned near = slots_[from.index];
  if (const unsigned slot = sleepers_->hand_on(near); slot != lockfree::sleeper_map<>::k_nobody)
    at_slot_[slot]->ring();
  else
    return;
  // More threads than processors would take the processor from the worker that produces the work.
  if (!plenty || !may_double_) return;
  if (const unsigned slot = sleepers_->wake_another(near); slot != lockfree::sleeper_map<>::k_nobody)
    at_slot_[slot]->ring();
}

}  // namespace shoal::sched
