// SPDX-License-Identifier: Apache-2.0
#include "sched/flow_task.hpp"

#include <algorithm>
#include <utility>

namespace shoal::sched {
void flow_task_store::free_blocks(flow_task& t) noexcept {
  for (successor_block* b = std::exchange(t.more, nullptr); b != nullptr;) {
    successor_block* const next = b->next;
    if (detail::t_worker != nullptr)
      detail::deallocate(*detail::t_worker, b, sizeof *b);
    else
      ::operator delete(b);
    b = next;
  }
}

bool flow_task::precede_further(flow_task& later, std::uint32_t at, bool alone) {
  const std::uint32_t slot = at % successor_block::k_slots;
  if (slot == 0) {
    auto* const block = static_cast<successor_block*>(detail::allocate(*detail::t_worker, sizeof(successor_block)));
    block->next = nullptr;
    block->last = block;
    if (more == nullptr) {
      more = block;
    } else {
      more->last->next = block;
      more->last = block;
    }
  }
  more->last->slots[slot] = &later;
  return successors.add(alone);
}

flow_task_store::~flow_task_store() {
  for (std::size_t i = 0; i < size_; ++i) free_blocks(chunks_[i / k_chunk][i % k_chunk]);
}

void flow_task_store::grow(std::size_t most, detail::task::function run, const void* group) {
  if (chunks_.size() * k_chunk == size_) {
    chunks_.reserve(chunks_.size() + 1);
    chunks_.push_back(std::make_unique<flow_task[]>(k_chunk));
  }
  const std::size_t end = std::min(most, chunks_.size() * k_chunk);
  for (std::size_t i = end; i > size_; --i) {  // so that they are taken in the order of their addresses
    flow_task& t = chunks_[(i - 1) / k_chunk][(i - 1) % k_chunk];
    t.run = run;
    t.group = group;
    t.reference = i - 1;
    t.next = std::exchange(free_, &t);
  }
  size_ = std::max(size_, end);
}

flow_terms& flow_task_store::on_terms(flow_task& t) {
  if (t.terms != nullptr) return *t.terms;
  const auto place = static_cast<std::uint32_t>(t.reference);
  if (terms_.size() <= place) terms_.resize(size_);
  std::unique_ptr<flow_terms>& kept = terms_[place];
  if (!kept) kept = std::make_unique<flow_terms>();
  flow_terms& terms = *kept;
  terms.wanted.clear();
  terms.task = &t;
  terms.rank = priority::normal;
  terms.act = std::exchange(t.act, act_on_terms_);
  t.terms = &terms;
  return terms;
}

void flow_task_store::put(flow_task* first) noexcept {
  while (first != nullptr) {
    flow_task* const next = first->next;
    first->next = std::exchange(free_, first);
    first = next;
  }
}

}  // namespace shoal::sched
