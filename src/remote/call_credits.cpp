// SPDX-License-Identifier: Apache-2.0
#include "remote/call_credits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "machine/memory_info.hpp"
#include "remote/exhausted.hpp"
#include "shoal/detail/loop.hpp"
#include "shoal/detail/port.hpp"

namespace shoal::remote {
namespace {

// Whether the calling code may wait for credit: it holds up only itself, and what is outermost as itself.
bool may_wait(const detail::worker_base& w) noexcept {
  if (detail::is_for_handlers(*w.port) || w.no_wait_scopes != 0) return false;
  return detail::is_outermost() || detail::is_outermost_iteration();
}

}  // namespace

struct call_credits::kept_call {
  kept_call* next = nullptr;
  std::vector<std::uint64_t> words;
  std::uint64_t bytes() const noexcept { return sizeof(kept_call) + words.size() * sizeof(std::uint64_t); }
};

struct call_credits::held_task {
  held_task* next = nullptr;
  std::uint64_t cost = 0;
  detail::suspended* task = nullptr;
};

struct call_credits::account {
  template <class T>
  struct queue {
    T* first = nullptr;
    T* last = nullptr;
    void append(T* t) noexcept {
      (first == nullptr ? first : last->next) = t;
      last = t;
    }
    T* take() noexcept { return std::exchange(first, first->next); }
  };

  // Never held over a wait or a send.
  std::mutex lock;
  std::uint64_t left = 0;
  queue<kept_call> kept;  // sent before tasks that are held go on: nested work lets others proceed
  queue<held_task> held;
};

call_credits::call_credits(std::uint32_t nodes, std::uint64_t bytes_for_all, aggregate::overflow_memory& overflow)
    : overflow_(overflow),
      window_(std::max(bytes_for_all / sizeof(std::uint64_t) / nodes, k_least_window)),
      nodes_(nodes),
      accounts_(nodes),
      to_return_(nodes) {}

call_credits::~call_credits() {
  for (std::uint32_t n = 0; n < nodes_; ++n) {
    account* const one = accounts_[n].load(std::memory_order_relaxed);
    if (one == nullptr) continue;
    while (one->kept.first != nullptr) delete one->kept.take();
    delete one;
  }
}

call_credits::account& call_credits::of(std::uint32_t node) {
  account* known = accounts_[node].load(std::memory_order_acquire);
  if (known != nullptr) return *known;
  auto made = std::make_unique<account>();
  made->left = window_;
  if (!accounts_[node].compare_exchange_strong(known, made.get(), std::memory_order_acq_rel)) return *known;
  return *made.release();
}

void call_credits::send(detail::worker_base& w, std::uint32_t node, std::span<const std::uint64_t> call, sender with) {
  account& a = of(node);
  const std::uint64_t price = cost(call.size());
  held_task me;
  {
    const std::lock_guard guard(a.lock);
    if (a.left >= price && a.kept.first == nullptr && a.held.first == nullptr) {
      a.left -= price;
    } else if (may_wait(w)) {
      me.cost = price;
      me.task = detail::this_task();
      a.held.append(&me);
    } else {
      return keep(a, node, call);
    }
  }
  if (me.task == nullptr) return with(w, node, call);
  detail::leave(detail::wait_kind::credit, detail::numbered(node));  // who wakes it has taken the credit
  with(*detail::t_worker, node, call);
}

// The caller holds the lock.
void call_credits::keep(account& a, std::uint32_t node, std::span<const std::uint64_t> call) {
  auto made = std::make_unique<kept_call>();
  made->words.assign(call.begin(), call.end());
  if (!overflow_.take(aggregate::overflow_memory::use::calls, made->bytes())) {
    end_as_exhausted(
        fmt::format("nested tasks call node {} more often than it begins calls: {} of calls "
                    "wait here, as many as SHOAL_OVERFLOW_MEMORY allows; raise it, let outermost tasks "
                    "or loops make the calls, or wait for some before the next",
                    node, machine::describe_bytes(overflow_.limit_bytes())));
  }
  a.kept.append(made.release());
}

void call_credits::give(detail::worker_base& w, std::uint32_t node, std::uint64_t words, sender with) noexcept {
  account& a = of(node);
  std::unique_lock held(a.lock);
  a.left += words;
  for (;;) {
    if (kept_call* const first = a.kept.first; first != nullptr) {
      if (a.left < cost(first->words.size())) return;
      a.left -= cost(first->words.size());
      const std::unique_ptr<kept_call> call(a.kept.take());
      held.unlock();
      overflow_.give_back(aggregate::overflow_memory::use::calls, call->bytes());
      const detail::handler_scope never_waits(w, "a call of a nested task");
      with(w, node, call->words);
    } else {
      held_task* const first_held = a.held.first;
      if (first_held == nullptr || a.left < first_held->cost) return;
      a.left -= first_held->cost;
      detail::suspended* const task = a.held.take()->task;
      held.unlock();
      detail::wake(task);  // what it waited with may be gone
    }
    held.lock();
  }
}

std::uint64_t call_credits::begun(std::uint32_t node, std::uint64_t cost) noexcept {
  const std::uint64_t now = to_return_[node].fetch_add(cost, std::memory_order_relaxed) + cost;
  return now >= window_ / k_returns ? to_return_[node].exchange(0, std::memory_order_relaxed) : 0;
}

std::uint64_t call_credits::outstanding(std::uint32_t node) const noexcept {
  account* const a = accounts_[node].load(std::memory_order_acquire);
  if (a == nullptr) return 0;
  const std::lock_guard guard(a->lock);
  return window_ - a->left;
}

}  // namespace shoal::remote
