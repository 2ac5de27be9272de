// SPDX-License-Identifier: Apache-2.0
#include "cluster/work_moves.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include "base/rough_time.hpp"
#include "cluster/lifelines.hpp"
#include "remote/call_table.hpp"
#include "remote/code.hpp"
#include "sched/worker.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/detail/loop_anywhere.hpp"
#include "shoal/detail/port.hpp"
#include "shoal/random.hpp"

namespace shoal::cluster {
namespace {

using detail::anywhere_kind;
using detail::arrival;
using detail::group_part;
using detail::packed;
using detail::task;

constexpr const char* k_named = "work that moves between nodes";
[[maybe_unused]] constexpr const char* k_misshapen_work =
    "another node has sent work in a form that no node sends: the nodes' programs differ";

work_moves& moves_of(const detail::worker_base& w) noexcept { return *w.port->context->moves; }

void receive_request(const arrival& a) noexcept { moves_of(a.worker).asked(a); }
void receive_reply(const arrival& a) noexcept { moves_of(a.worker).answered(a); }
void receive_tasks(const arrival& a) noexcept { moves_of(a.worker).got_tasks(a); }

// A message with tasks: the group, 0 for tasks with futures; its stop word (stop_word_of); how many tasks; each as code and
// number of words, then the words.
constexpr std::size_t k_head_words = 3;
constexpr unsigned k_words_shift = 48;
static_assert(k_head_words + 1 + detail::k_most_call_words <= detail::k_most_payload_words);

// A reply: along which lifeline, or k_random.
constexpr std::uint64_t k_random = 64;

bool may_travel(const anywhere_kind& k) noexcept { return k.make->name() != detail::registered_body::k_unnamed; }

// The group that a task belongs to; nullptr: it has a future.
group_part* part_of(const task& t) noexcept {
  return detail::kind_of(t)->in_group ? static_cast<const detail::group_task_base&>(t).part : nullptr;
}

// In the table of calls: an answer that any node may send.
constexpr std::uint32_t k_any_node = ~std::uint32_t{0};

remote::pending_call take_expected(const arrival& a) noexcept {
  SHOAL_ASSERT(!a.payload.empty(), k_misshapen_work);
  const auto call = a.worker.port->context->calls->take(a.payload[0], k_any_node);
  SHOAL_ASSERT(call, "another node has sent a result that nobody waits for: the nodes' programs differ");
  return *call;
}
void receive_result(const arrival& a) noexcept {
  const remote::pending_call call = take_expected(a);
  SHOAL_ASSERT(a.payload.size() - 1 == call.answer_words, k_misshapen_work);
  std::copy(a.payload.begin() + 1, a.payload.end(), call.answer);
  call.calls->done();
}
void receive_exception(const arrival& a) noexcept {
  const remote::failure f = remote::read_failure(a.payload);
  detail::completion* const calls = take_expected(a).calls;
  calls->fail(std::make_exception_ptr(f.as_error()));
  calls->done();
}

}  // namespace

work_moves::work_moves(std::uint32_t node, std::uint32_t nodes, sched::pool& pool)
    : node_(node),
      nodes_(nodes),
      lines_((std::uint64_t{1} << lifeline_count(nodes)) - 1),
      pool_(pool),
      workers_(new of_worker[pool.size()]) {
  asked_.store(lines_, std::memory_order_relaxed);
  if (nodes > 1) wanted_.store(lines_ | k_none_begun, std::memory_order_relaxed);
  pool.use(*this);
}

std::size_t work_moves::groups() const {
  const std::lock_guard hold(lock_);
  return parts_.size();
}

// As a handler, which never waits. At once: whoever sends this goes on with other work.
void work_moves::send_now(sched::worker& w, std::uint32_t node, detail::receiver function,
                          std::span<const std::uint64_t> words) noexcept {
  has_sent_.store(true, std::memory_order_relaxed);
  const detail::handler_scope never_waits(w, k_named);
  detail::send(w, node, function, words);
  detail::flush_all(*w.port);
}

// --- asking ---

bool work_moves::any_waits_here() noexcept {
  for (unsigned i = 0; i < pool_.size(); ++i)
    if (pool_.at(i).load() != 0) return true;
  return false;
}

void work_moves::ask(sched::worker& w, std::uint32_t node, std::uint64_t line) noexcept {
  requests_.fetch_add(1, std::memory_order_relaxed);
  send_now(w, node, detail::receiver_of<receive_request>(), {&line, 1});
}

void work_moves::seek(sched::worker& w) noexcept {
  look_at_noted(w);
  if (!may_ask_.load(std::memory_order_relaxed) || asking_.load(std::memory_order_relaxed) ||
      stopped_.load(std::memory_order_relaxed) || any_waits_here())
    return;
  if (asking_.exchange(true, std::memory_order_acquire)) return;
  const detail::tsan_ignore_scope ignore;
  if (nodes_ > 2 && attempts_ < k_random_requests) {  // with one other node, its lifeline is as good
    ++attempts_;
    const std::uint64_t drawn = splitmix64::at(node_, victims_++) % (nodes_ - 1);
    const auto victim = static_cast<std::uint32_t>(drawn < node_ ? drawn : drawn + 1);
    return ask(w, victim, k_random);  // the answer ends it
  }
  attempts_ = 0;
  // Before the lifelines are looked at: work that comes along one of them sets it again.
  may_ask_.store(false, std::memory_order_relaxed);
  const std::uint64_t open = ~asked_.fetch_or(lines_, std::memory_order_acquire) & lines_;
  for (unsigned k = 0; open >> k != 0; ++k)
    if ((open >> k & 1) != 0) ask(w, lifeline_of(node_, nodes_, k), k);
  asking_.store(false, std::memory_order_release);
}

void work_moves::answered(const arrival& a) noexcept {
  SHOAL_ASSERT(a.payload.size() == 2, k_misshapen_work);
  const bool gave = a.payload[1] != 0;
  const detail::tsan_ignore_scope ignore;
  if (a.payload[0] == k_random) {
    if (gave) attempts_ = 0;
    if (gave) may_ask_.store(true, std::memory_order_relaxed);
    asking_.store(false, std::memory_order_release);
  } else {
    asked_.fetch_and(~(std::uint64_t{1} << (a.payload[0] & 63)), std::memory_order_release);
    may_ask_.store(true, std::memory_order_relaxed);
  }
  if (gave) pool_.wake_one(nullptr);  // the next worker without work asks again
}

// --- giving ---

// Half of what waits on each worker, oldest first, into taken: tasks that may move, as many as one message has room for.
void work_moves::take(sched::worker& w) noexcept {
  std::vector<task*>& taken = workers_[w.index].taken;
  std::size_t words = k_head_words;
  unsigned returned = 0;
  for (unsigned i = 0; i < pool_.size(); ++i) {
    sched::worker& of = pool_.at((w.index + i) % pool_.size());
    for (std::size_t left = of.load() == 0 ? 0 : half_of(of.load()); left > 0; --left) {
      task* const t = of.give_up();
      if (t == nullptr) break;
      const anywhere_kind* const kind = detail::kind_of(*t);
      const bool moves = kind != nullptr && may_travel(*kind);
      if (!moves || words + 1 + kind->words > detail::k_most_payload_words) {
        detail::arrive(w, *t);
        if (moves || ++returned == k_most_returned) return;
        continue;
      }
      words += 1 + kind->words;
      taken.push_back(t);
    }
  }
}

bool work_moves::give(sched::worker& w, std::uint32_t to) noexcept {
  const detail::tsan_ignore_scope ignore;
  if ((wanted_.load(std::memory_order_relaxed) & k_none_begun) != 0) return false;
  wanted_.fetch_or(k_none_begun, std::memory_order_relaxed);  // before the look: whoever begins a task later resets it
  std::vector<task*>& taken = workers_[w.index].taken;
  take(w);
  if (taken.empty()) return false;
  wanted_.fetch_and(~k_none_begun, std::memory_order_relaxed);
  may_ask_.store(true, std::memory_order_relaxed);
  while (!taken.empty()) send_tasks(w, to, part_of(*taken.front()));
  return true;
}

// Those of one group, or those with futures.
void work_moves::send_tasks(sched::worker& w, std::uint32_t to, group_part* g) noexcept {
  std::vector<task*>& taken = workers_[w.index].taken;
  std::vector<std::uint64_t>& words = workers_[w.index].words;
  if (auto* const p = static_cast<part*>(g); p != nullptr)
    words.assign({p->key, stop_word_of(*p), 0});
  else
    words.assign(k_head_words, 0);
  std::erase_if(taken, [&](task* t) {
    if (part_of(*t) != g) return false;
    const anywhere_kind& kind = *detail::kind_of(*t);
    words.push_back(remote::encode_body(*kind.make) | std::uint64_t{kind.words} << k_words_shift);
    words.resize(words.size() + kind.words);
    kind.take(*t, words.data() + words.size() - kind.words);
    ++words[k_head_words - 1];
    return true;
  });
  if (g != nullptr) g->cells[w.index].count.end(words[k_head_words - 1] - 1);  // together they count as one
  send_now(w, to, detail::receiver_of<receive_tasks>(), words);
}

void work_moves::asked(const arrival& a) noexcept {
  SHOAL_ASSERT(a.payload.size() == 1 && (a.payload[0] == k_random || a.payload[0] < lifeline_count(nodes_)),
               k_misshapen_work);
  auto& w = static_cast<sched::worker&>(a.worker);
  const bool gave = give(w, a.from);
  if (!gave && a.payload[0] != k_random) return add_lifeline(static_cast<unsigned>(a.payload[0]));
  send_now(w, a.from, detail::receiver_of<receive_reply>(), std::array{a.payload[0], std::uint64_t{gave}});
}

void work_moves::begun(sched::worker& w) noexcept {
  if ((wanted_.load(std::memory_order_relaxed) & k_none_begun) != 0)
    wanted_.fetch_and(~k_none_begun, std::memory_order_relaxed);
  offer(w, 1);
}

void work_moves::offer(sched::worker& w, std::size_t kept) noexcept {
  if (w.load() <= kept) return;
  const std::uint64_t wanted = wanted_.load(std::memory_order_relaxed) & lines_;
  if (wanted == 0) return;
  const auto k = static_cast<unsigned>(std::countr_zero(wanted));
  const std::uint64_t line = std::uint64_t{1} << k;
  if ((wanted_.fetch_and(~line, std::memory_order_relaxed) & line) == 0) return;  // another worker serves it
  const std::uint32_t to = asks_along(node_, nodes_, k);
  if (!give(w, to)) return add_lifeline(k);
  send_now(w, to, detail::receiver_of<receive_reply>(), std::array{std::uint64_t{k}, std::uint64_t{1}});
}

void work_moves::got_tasks(const arrival& a) noexcept {
  SHOAL_ASSERT(a.payload.size() > k_head_words, k_misshapen_work);
  const std::uint64_t key = a.payload[0];
  const std::uint64_t count = a.payload[k_head_words - 1];
  part* const p = key == 0 ? nullptr : &enter(key, a.payload[1], count, a);
  const bool to_deque = a.worker.tasks.seems_empty();
  std::span<const std::uint64_t> rest = a.payload.subspan(k_head_words);
  for (std::uint64_t i = 0; i < count; ++i) {
    SHOAL_ASSERT(!rest.empty() && rest.size() > rest[0] >> k_words_shift, k_misshapen_work);
    const detail::callee_function make = remote::decode_callee(rest[0]);
    SHOAL_ASSERT(make != nullptr, k_misshapen_work);
    const std::size_t words = rest[0] >> k_words_shift;
    std::array<std::uint64_t, 1 + detail::k_most_call_words> arguments;
    arguments[0] = reinterpret_cast<std::uintptr_t>(static_cast<group_part*>(p));
    std::copy_n(rest.begin() + 1, words, arguments.begin() + 1);
    std::uint64_t made = 0;
    make(a.from, {arguments.data(), 1 + words}, &made);
    task& t = *reinterpret_cast<task*>(made);
    detail::release_to(&t);
    if (to_deque)
      detail::publish(a.worker, t);
    else
      detail::arrive(a.worker, t);
    rest = rest.subspan(1 + words);
  }
  wanted_.fetch_and(~k_none_begun, std::memory_order_relaxed);
}

void work_moves::tend(sched::worker& w) noexcept {
  of_worker& mine = workers_[w.index];
  if (const std::uint64_t wanted = wanted_.load(std::memory_order_relaxed); wanted != 0 && (wanted & k_none_begun) == 0)
    offer(w, 0);
  const detail::tsan_ignore_scope ignore;
  if (mine.noted == nullptr) return;
  const std::uint64_t now = pool_.rough_now();
  if (now - mine.looked < k_look_ticks) return;
  mine.looked = now;
  look_at_noted(w);
}

}  // namespace shoal::cluster

namespace shoal::detail {

void offer_work(worker_base& w) noexcept { w.port->context->moves->begun(static_cast<sched::worker&>(w)); }
bool work_is_wanted(const worker_base& w) noexcept { return w.port->context->moves->is_wanted(); }

std::uint64_t expect_from_anywhere(completion& calls, std::uint64_t* answer, std::size_t answer_words) {
  const tsan_ignore_scope ignore;  // the worker's own table, which all its stacks touch in turn
  const std::uint64_t name =
      this_port().context->calls->of(t_worker->index).add({&calls, answer, answer_words, cluster::k_any_node});
  calls.add();
  return name;
}

void send_result(std::uint32_t to, std::span<const std::uint64_t> name_and_words) {
  send(*t_worker, to, receiver_of<cluster::receive_result>(), name_and_words);
}

void send_exception(std::uint32_t to, std::uint64_t name, std::uint64_t issued) {
  const remote::failure f = remote::current_failure(this_port().node);
  settle(issued);
  send(*t_worker, to, receiver_of<cluster::receive_exception>(), remote::pack_failure(name, f));
}

std::uint64_t chunk_pace::rough_now_ns() noexcept {
  return sched::this_worker()->owner().rough_now() / base::rough_time::k_per_ns;
}

std::exception_ptr as_from_remote(const std::exception_ptr& e) noexcept {
  try {
    try {
      std::rethrow_exception(e);
    } catch (...) {
      rethrow_as_remote();
    }
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace shoal::detail
