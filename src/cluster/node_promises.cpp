// SPDX-License-Identifier: Apache-2.0
#include "cluster/node_promises.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "remote/failure.hpp"
#include "shoal/detail/answer.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/detail/call.hpp"
#include "shoal/detail/port.hpp"
#include "shoal/error.hpp"
#include "shoal/global_promise.hpp"

namespace shoal::cluster {

std::uint64_t node_promises::make() {
  const std::uint64_t number = next_.fetch_add(1, std::memory_order_relaxed);
  shard& s = of(number);
  const std::lock_guard hold(s.lock);
  s.promises.try_emplace(number);
  return number;
}

node_promises::state& node_promises::find(shard& s, std::uint64_t number) const {
  const auto found = s.promises.find(number);
  if (found == s.promises.end())
    throw error(errc::not_found, fmt::format("global promise {} of node {} is used after it was freed; keep its "
                                             "shoal::global_result until nobody uses it",
                                             number, node_));
  return found->second;
}

node_promises::waiters node_promises::set(std::uint64_t number, shared_result value) {
  shard& s = of(number);
  const std::lock_guard hold(s.lock);
  state& p = find(s, number);
  if (p.value)
    throw error(errc::invalid_argument,
                fmt::format("global promise {} of node {} is set twice; one task sets it, once", number, node_));
  p.value = std::move(value);
  return std::exchange(p.waiting, {});
}

node_promises::shared_result node_promises::ask(std::uint64_t number, waiter who) {
  shard& s = of(number);
  const std::lock_guard hold(s.lock);
  state& p = find(s, number);
  if (!p.value) p.waiting.push_back(who);
  return p.value;
}

node_promises::waiters node_promises::free(std::uint64_t number) noexcept {
  shard& s = of(number);
  const std::lock_guard hold(s.lock);
  auto gone = s.promises.extract(number);
  return gone ? std::move(gone.mapped().waiting) : waiters();
}

std::size_t node_promises::size() const {
  std::size_t all = 0;
  for (const shard& s : shards_) {
    const std::lock_guard hold(s.lock);
    all += s.promises.size();
  }
  return all;
}

}  // namespace shoal::cluster

namespace shoal::detail {
namespace {

using cluster::node_promises;

node_promises& promises_of(const port& p) noexcept { return *p.context->promises; }

void receive_promised(const arrival& a) noexcept {
  const expected_answer expected = take_answer(a);
  std::ranges::copy(a.payload.subspan(1), static_cast<std::uint64_t*>(expected.target));
  expected.calls->done();
}

// worker(): the caller's; a task that may move asks anew after each switch. Handlers do not switch here.
template <class Worker>
void answer_waiters(const Worker& worker, std::span<const node_promises::waiter> to, const node_promises::result& r) {
  if (r.thrown) {
    try {
      std::rethrow_exception(r.thrown);
    } catch (...) {
      for (const auto& who : to) send_failure(worker(), who.node, who.name);
    }
    return;
  }
  std::vector<std::uint64_t> words(1);
  words.insert(words.end(), r.words.begin(), r.words.end());
  for (const auto& who : to) {
    words[0] = who.name;
    send(worker(), who.node, receiver_of<receive_promised>(), words);
  }
}

void answer_by_task(std::span<const node_promises::waiter> to, const node_promises::result& r) {
  if (to.empty()) return;
  answer_waiters(worker_here, to, r);
  flush_all(this_port());
}

// A question: the number of the promise, and the name of the answer.
void receive_promise_question(const arrival& a) noexcept {
  const handler_scope never_waits(a.worker, "a global future");
  const node_promises::waiter who{a.from, a.payload[1]};
  node_promises::shared_result found;
  try {
    found = promises_of(*a.worker.port).ask(a.payload[0], who);
    if (found) answer_waiters([&]() -> worker_base& { return a.worker; }, {&who, 1}, *found);
  } catch (...) {
    send_failure(a.worker, who.node, who.name);
  }
}

void set_here(std::uint64_t number, node_promises::result r) {
  const auto value = std::make_shared<const node_promises::result>(std::move(r));
  answer_by_task(promises_of(this_port()).set(number, value), *value);
}

std::size_t fail_there(std::uint32_t, std::span<const std::uint64_t> words, std::uint64_t*) {
  set_here(words[0], {{}, std::make_exception_ptr(remote::read_failure(words).as_error())});
  return 0;
}

remote::failure failure_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (...) {
    return remote::current_failure(this_port().node);
  }
}

}  // namespace

promise_name make_shared_promise() {
  const port& p = this_port();
  return {promises_of(p).make(), p.node};
}

void free_shared_promise(const promise_name& name) {
  const port& p = this_port();
  SHOAL_ASSERT(name.node == p.node, "a shoal::global_result is destroyed on the node that made it");
  const node_promises::waiters in_vain = promises_of(p).free(name.number);
  if (in_vain.empty()) return;
  answer_by_task(
      in_vain, {{},
                std::make_exception_ptr(error(
                    errc::abandoned, fmt::format("global promise {} of node {} was destroyed before it was set; set a "
                                                 "value or an exception",
                                                 name.number, name.node)))});
}

void set_shared_promise(std::uint64_t number, std::span<const std::uint64_t> value) {
  set_here(number, {{value.begin(), value.end()}, nullptr});
}

void set_shared_promise(const promise_name& name, const std::exception_ptr& thrown) {
  completion calls;
  begin_call(calls, name.node, callee_of<fail_there>(), remote::pack_failure(name.number, failure_of(thrown)));
  calls.wait_and_rethrow();
}

void ask_shared_promise(completion& calls, const promise_name& name, void* target) {
  const std::uint64_t answer_name = expect_answer(calls, name.node, target);
  try {
    send(worker_here(), name.node, receiver_of<receive_promise_question>(), std::array{name.number, answer_name});
  } catch (...) {  // no memory: nothing was sent
    forget_answer(calls, name.node, answer_name);
    throw;
  }
}

}  // namespace shoal::detail
