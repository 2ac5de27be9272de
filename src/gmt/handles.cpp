// SPDX-License-Identifier: Apache-2.0
#include "gmt/handles.hpp"

#include <bit>
#include <utility>

#include "gmt/misuse.hpp"
#include "gmt/node_state.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/detail/call.hpp"
#include "shoal/detail/message.hpp"
#include "shoal/error.hpp"

namespace shoal::gmt {
namespace {

constexpr unsigned k_most_node_bits = 12;

handle_table& table() { return node_state::here().handles; }

std::size_t count_token(std::uint32_t, std::span<const std::uint64_t> arguments, std::uint64_t*) {
  SHOAL_ASSERT(arguments.size() == 1, k_misshapen);
  table().add_token(static_cast<std::uint32_t>(arguments[0]));
  return 0;
}

void receive_tokens(const detail::arrival& a) noexcept {
  SHOAL_ASSERT(a.payload.size() == 2, k_misshapen);
  table().take_tokens(static_cast<std::uint32_t>(a.payload[0]), a.payload[1]);
}

}  // namespace

handle_table::handle_table(std::uint32_t node, std::uint32_t nodes)
    : node_(node), node_bits_(static_cast<unsigned>(std::bit_width(nodes - 1))) {
  if (node_bits_ > k_most_node_bits)
    throw error(errc::invalid_argument,
                "handles of GMT's C interface name at most 4096 nodes; start fewer, or use the "
                "C++ interface");
}

std::uint32_t handle_table::make() {
  const std::lock_guard guard(lock_);
  std::uint32_t number = static_cast<std::uint32_t>(slots_.size());
  if (free_.empty()) {
    if (number == k_slots) refuse("gmt_get_handle", "262143 handles of this node exist; wait for some");
    slots_.emplace_back();
  } else {
    number = free_.front();  // the one that is free for the longest time, so that its last handle is known as ended
    free_.pop_front();
  }
  slot& s = slots_[number];
  s.account = std::make_unique<handle_account>();
  const unsigned generation_bits = 32 - node_bits_ - k_slot_bits;
  s.generation = (s.generation + 1) & ((1U << generation_bits) - 1);
  const std::uint32_t node_part = node_bits_ == 0 ? 0 : node_ << (32 - node_bits_);
  s.account->handle = node_part | s.generation << k_slot_bits | number;
  return s.account->handle;
}

// Under the lock.
handle_account* handle_table::own_account(std::uint32_t handle) noexcept {
  const std::uint32_t number = handle & ((1U << k_slot_bits) - 1);
  if (number >= slots_.size() || slots_[number].account == nullptr) return nullptr;
  handle_account* const a = slots_[number].account.get();
  return a->handle == handle ? a : nullptr;
}

void handle_table::wait(std::uint32_t handle) {
  detail::completion end;
  {
    const std::lock_guard guard(lock_);
    handle_account* const a = own_account(handle);
    if (a == nullptr) refuse_handle("gmt_wait_handle", handle);
    if (a->waiter != nullptr) refuse("gmt_wait_handle", "another task waits for this handle already");
    if (a->count.load(std::memory_order_acquire) != 0) {
      end.add();
      a->waiter = &end;
    }
  }
  end.wait();
  const std::lock_guard guard(lock_);
  const std::uint32_t number = handle & ((1U << k_slot_bits) - 1);
  slots_[number].account.reset();
  free_.push_back(number);
}

void handle_table::add_token(std::uint32_t handle) {
  const std::lock_guard guard(lock_);
  handle_account* const a = own_account(handle);
  if (a == nullptr) refuse_handle("a task is started under a handle", handle);
  a->count.fetch_add(1, std::memory_order_relaxed);
}

void handle_table::take_tokens(std::uint32_t handle, std::uint64_t n) noexcept {
  handle_account* a = nullptr;
  {
    const std::lock_guard guard(lock_);
    a = own_account(handle);
  }
  if (a == nullptr) refuse_handle("tasks have ended", handle);
  for (; n > 0; --n) leave(*a);
}

handle_account* handle_table::find(std::uint32_t handle) {
  const std::lock_guard guard(lock_);
  handle_account* a = nullptr;
  if (owner(handle) == node_) {
    a = own_account(handle);
    if (a == nullptr) refuse_handle("a task is started under a handle", handle);
  } else if (const auto found = others_.find(handle); found != others_.end()) {
    a = found->second.get();
  }
  if (a != nullptr) a->count.fetch_add(1, std::memory_order_relaxed);
  return a;
}

handle_account* handle_table::find_or_open(std::uint32_t handle, bool& opened) {
  opened = false;
  if (owner(handle) == node_) return find(handle);
  const std::lock_guard guard(lock_);
  auto& account = others_[handle];
  if (account == nullptr) {
    account = std::make_unique<handle_account>();
    account->handle = handle;
    opened = true;
  }
  account->count.fetch_add(1, std::memory_order_relaxed);
  return account.get();
}

void handle_table::leave(handle_account& a) noexcept {
  // Not the last one: nobody can remove the account meanwhile.
  for (std::uint64_t n = a.count.load(std::memory_order_relaxed); n > 1;)
    if (a.count.compare_exchange_weak(n, n - 1, std::memory_order_acq_rel, std::memory_order_relaxed)) return;
  std::uint64_t tokens = 0;
  detail::completion* waiter = nullptr;
  const std::uint32_t handle = a.handle;
  {
    const std::lock_guard guard(lock_);
    if (a.count.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    waiter = std::exchange(a.waiter, nullptr);
    tokens = a.tokens;
    if (owner(handle) != node_) others_.erase(handle);
  }
  if (waiter != nullptr) waiter->done();
  if (tokens != 0) {
    detail::worker_base& w = *detail::t_worker;
    const detail::handler_scope never_waits(w, "the end of tasks of a handle");
    const std::uint64_t words[2] = {handle, tokens};
    detail::send(w, owner(handle), detail::receiver_of<receive_tokens>(), words);
  }
}

void handle_table::leave_and_wait(handle_account& a) noexcept {
  detail::completion end;
  end.add();
  {
    // Also if the account would be empty now: a task that arrives meanwhile relies on this one's wait.
    const std::lock_guard guard(lock_);
    a.waiter = &end;
  }
  leave(a);
  end.wait();
}

void handle_table::keep_token(handle_account& a) noexcept {
  const std::lock_guard guard(lock_);
  ++a.tokens;
}

handle_member::handle_member(std::uint32_t handle) {
  if (handle == ~std::uint32_t{0}) return;
  account_ = table().find_or_open(handle, opened_);
}

handle_member::~handle_member() {
  if (account_ == nullptr) return;
  if (opened_)
    table().leave_and_wait(*account_);
  else
    table().leave(*account_);
}

handle_account& begin_under(std::uint32_t handle, handle_account* own, const char* function) {
  if (own != nullptr && own->handle == handle) {
    handle_table::add(*own);
    return *own;
  }
  handle_table& t = table();
  const std::uint32_t owner = t.owner(handle);
  if (owner >= detail::this_port().nodes) refuse_handle(function, handle);
  if (handle_account* const known = t.find(handle)) return *known;
  detail::completion call;
  const std::uint64_t argument = handle;
  detail::begin_call(call, owner, detail::callee_of<count_token>(), {&argument, 1});
  call.wait_and_rethrow();
  bool opened = false;
  handle_account* const a = t.find_or_open(handle, opened);
  t.keep_token(*a);
  return *a;
}

void end_under(handle_account& a) noexcept { table().leave(a); }

}  // namespace shoal::gmt
