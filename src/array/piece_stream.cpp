// SPDX-License-Identifier: Apache-2.0
// The untyped part of element_stream.hpp.
#include <algorithm>
#include <array>
#include <new>

#include "array/bulk.hpp"
#include "remote/worker_port.hpp"
#include "shoal/detail/array_access.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/detail/tsan_ignore.hpp"
#include "shoal/element_stream.hpp"

namespace shoal::detail {

struct bulk_read::state final : remote::settling {
  bool over = true;
  suspended* task = nullptr;  // waits for it
};

bulk_read::bulk_read() : state_(std::make_unique<state>()) {
  state_->done = [](remote::settling& s) noexcept {
    auto& self = static_cast<state&>(s);
    self.over = true;
    if (self.task != nullptr) wake(std::exchange(self.task, nullptr));
  };
}

bulk_read::~bulk_read() { wait(); }

void bulk_read::begin(const array_layout& layout, std::uint64_t i, void* target, std::uint64_t count, unsigned unit) {
  port& p = this_port();
  refuse_bare_verb(p);
  bulk_get(layout, i, target, count, unit);
  const tsan_ignore_scope ignore;
  state_->over = false;
  if (state_->begin(static_cast<remote::worker_port&>(p)))
    state_->over = true;
  else
    flush_all(p);
}

void bulk_read::wait() {
  const tsan_ignore_scope ignore;
  if (state_->over) return;
  state_->task = this_task();
  leave(wait_kind::settling);
}

namespace {

constexpr std::uint64_t k_copy_bytes = 16 << 10;
// Shorter runs are copied from mapped memory, too.
constexpr std::uint64_t k_least_run_bytes = 2048;

std::uint64_t elements_per_copy(const array_layout& layout) noexcept {
  return std::max<std::uint64_t>(k_copy_bytes / layout.element_bytes, 4);
}

}  // namespace

struct piece_stream::copies {
  copies(std::uint64_t bytes, std::size_t align)
      : each_bytes((bytes + align - 1) / align * align),
        alignment(std::align_val_t{align}),
        memory(static_cast<std::byte*>(::operator new(k_slots* each_bytes, alignment))) {}
  copies(const copies&) = delete;
  copies& operator=(const copies&) = delete;
  ~copies() {
    for (bulk_read& one : reads) one.wait();
    ::operator delete(memory, alignment);
  }

  const std::uint64_t each_bytes;
  const std::align_val_t alignment;
  std::byte* const memory;
  std::array<bulk_read, k_slots> reads;
};

piece_stream::piece_stream(const array_layout& layout, std::uint64_t first, std::uint64_t last, std::size_t align,
                           unsigned unit)
    : layout_(layout),
      last_(std::max(first, last)),
      align_(std::max(align, alignof(std::uint64_t))),
      unit_(unit),
      planned_until_(first) {
  if (last_ > first) array::check_range(layout, first, last_ - first);
}

piece_stream::~piece_stream() = default;

void piece_stream::plan_next() {
  const std::uint64_t left = last_ - planned_until_;
  const std::uint64_t run = std::min(left, layout_.run_at(planned_until_));
  planned_piece& next = ring_[planned_ % k_slots];
  next = {{nullptr, planned_until_, std::min(left, elements_per_copy(layout_))}, true};
  if (run == left || run * layout_.element_bytes >= k_least_run_bytes) {
    const auto at = layout_.locate(planned_until_);
    if (const std::byte* const base = this_port().bases[at.node]; base != nullptr)
      next = {{base + at.offset, planned_until_, run}, false};
    else
      next.what.count = std::min(next.what.count, run);
  }
  if (next.is_copied) {
    if (copies_ == nullptr)
      copies_ = std::make_unique<copies>(elements_per_copy(layout_) * layout_.element_bytes, align_);
    std::byte* const to = copies_->memory + planned_ % k_slots * copies_->each_bytes;
    copies_->reads[planned_ % k_slots].begin(layout_, planned_until_, to, next.what.count, unit_);
    next.what.data = to;
  }
  planned_until_ += next.what.count;
  ++planned_;
}

piece_stream::piece piece_stream::next() {
  while (planned_ - given_ < k_slots && planned_until_ < last_) plan_next();
  if (given_ == planned_) return {};
  const std::uint64_t number = given_++ % k_slots;
  if (ring_[number].is_copied) copies_->reads[number].wait();
  attend(this_port());
  return ring_[number].what;
}

}  // namespace shoal::detail
