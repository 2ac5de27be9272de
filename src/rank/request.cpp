// SPDX-License-Identifier: Apache-2.0
#include "rank/request.hpp"

#include <memory>
#include <utility>

#include "rank/collective_call.hpp"
#include "rank/rank.hpp"

namespace shoal::rank {

request_pool::~request_pool() {
  while (free_ != nullptr) delete std::exchange(free_, free_->next);
}

// What only sends to other processes and requests that are no message of their own have.
[[gnu::noinline]] void request_pool::release_rest(request& r) noexcept {
  if (r.mode == send_mode::buffered && r.packed != nullptr)  // a message to another process
    r.owner->leave_attached_buffer(static_cast<std::uint64_t>(r.data.count));
  r.packed.reset();
  r.status_of = nullptr;
  r.starts.clear();
  r.parts = 0;
  if (r.call != nullptr) {
    r.call->op = {};
    r.call->kept.clear();
    r.call->kept_arrays.clear();
  }
}

void request_pool::give_back(request& r) noexcept {
  if (r.kind != request_kind::receive) [[unlikely]] {
    if (&r == &done_) return;
    release_rest(r);
  }
  if (r.persistent) r.begin = nullptr;
  r.revive(object_kind::freed);
  r.awaited = nullptr;
  r.whole = nullptr;
  r.finish = nullptr;
  r.error = MPI_SUCCESS;
  r.mode = send_mode::standard;
  r.complete = r.persistent = r.abandoned = r.cancelled = r.matched = false;
  r.active = true;
  r.source = MPI_ANY_SOURCE;
  r.tag = MPI_ANY_TAG;
  r.bytes = 0;
  r.internal = false;
  r.context = 0;
  if (r.type.get() != nullptr) [[unlikely]]
    r.type = {};
  r.where.end();
  r.next = std::exchange(free_, &r);
}

namespace {

void end_part(request& whole, request* part) noexcept {
  if (part != nullptr) {
    if (part->error != MPI_SUCCESS) whole.error = part->error;
    if (whole.status_of == part) {
      whole.source = part->source;
      whole.tag = part->tag;
      whole.bytes = part->bytes;
      whole.sent_bytes = part->sent_bytes;
      if (!part->persistent) whole.status_of = nullptr;
    }
    if (!part->persistent) part->owner->pool.give_back(*part);
  }
  if (--whole.parts == 0) complete(whole);
}

}  // namespace

void complete(request& r) noexcept {
  r.complete = true;
  if (r.finish != nullptr) [[unlikely]]
    r.finish(r);
  if (r.awaited != nullptr)
    std::exchange(r.awaited, nullptr)->complete_one();
  else if (r.whole != nullptr)
    end_part(*r.whole, &r);
  else if (r.abandoned)
    r.owner->pool.give_back(r);
}

void join(request& whole, request* part) noexcept {
  if (part == nullptr || part->complete) return end_part(whole, part);
  part->whole = &whole;
}

}  // namespace shoal::rank
