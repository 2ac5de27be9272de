// SPDX-License-Identifier: Apache-2.0
#include "rank/communicator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "rank/collective_sites.hpp"
#include "rank/communicator_table.hpp"
#include "rank/rank.hpp"
#include "shoal/detail/assert.hpp"

namespace shoal::rank {

communicator::communicator(job_ranks& job, context_id context, group_ref local, group_ref remote,
                           std::shared_ptr<collective_sites> sites)
    : handle_object(k_kind), job_(job), context_(context), local_(std::move(local)), remote_(std::move(remote)) {
  // In the order of the world, so that a member is found by its number in the process.
  const int all = job.size_here();
  std::vector<std::pair<int, int>> found;  // number here, rank
  if (local_->size() <= all) {
    for (int r = 0; r < local_->size(); ++r)
      if (const int w = local_->world_of(r); job.is_here(w)) found.emplace_back(job.here(w).local, r);
    std::ranges::sort(found);
  } else {
    for (int i = 0; i < all; ++i)
      if (const int r = local_->rank_of(job.at(i).world); r >= 0) found.emplace_back(i, r);
  }
  here_ = found.size();
  members_ = std::make_unique<member_state[]>(here_);
  for (std::size_t i = 0; i < here_; ++i) {
    members_[i].of = &job.at(found[i].first);
    members_[i].rank = found[i].second;
  }
  std::vector<sched::worker*> homes, others;
  for (std::size_t i = 0; i < here_; ++i) homes.push_back(&members_[i].of->home);
  for (int i = 0; remote_ != nullptr && i < all; ++i)
    if (remote_->rank_of(job.at(i).world) >= 0) others.push_back(&job.at(i).home);
  others_here_ = others.size();
  is_upper_ = remote_ != nullptr && local_->world_of(0) > remote_->world_of(0);
  homes.insert(is_upper_ ? homes.begin() : homes.end(), others.begin(), others.end());  // the lower group first
  sites_ = sites != nullptr ? std::move(sites) : std::make_shared<collective_sites>(homes);
  if (!is_here()) find_leaders();
  if (here_ == 0) return;
  first_ = found.front().first;
  dense_ = found.back().first - first_ + 1 == static_cast<int>(here_);
}

void communicator::find_leaders() {
  std::map<std::uint32_t, int> first;  // by node
  bool in_blocks = remote_ == nullptr;
  const auto look = [&](const group& g) {
    auto at = first.end();
    for (int r = 0; r < g.size(); ++r) {
      const int world = g.world_of(r);
      if (const std::uint32_t node = job_.node_of(world); at == first.end() || at->first != node) {
        in_blocks &= at == first.end() || at->first < node;
        at = first.try_emplace(node, world).first;
        if (in_blocks) block_begins_.push_back(r);
      }
      at->second = std::min(at->second, world);
    }
  };
  look(*local_);
  if (remote_ != nullptr) look(*remote_);
  for (const auto& [unused, world] : first) leaders_.push_back(world);
  block_begins_.push_back(local_->size());
  if (!in_blocks) block_begins_ = {};
}

communicator::~communicator() = default;

member_state* communicator::search_member(const rank_state& r) const noexcept {
  member_state* const end = members_.get() + here_;
  member_state* const found = std::lower_bound(members_.get(), end, r.local,
                                               [](const member_state& m, int local) { return m.of->local < local; });
  return found != end && found->of == &r ? found : nullptr;
}

bool communicator::has(const rank_state& r) const noexcept {
  if (&r.job != &job_) return false;
  const member_state* const found = find_member(r);
  return found != nullptr && found->active;
}

void communicator::drop_reference() noexcept {
  std::uint32_t seen = references_.load(std::memory_order_relaxed);
  // Release: what this member did with it comes before its end. Partner: the acquire of the last one.
  while (seen > 1)
    if (references_.compare_exchange_weak(seen, seen - 1, std::memory_order_release, std::memory_order_relaxed)) return;
  job_.communicators().drop_last(*this);
}

bool communicator::drop_if_last() noexcept { return references_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

std::string communicator::shown_name() const {
  for (const member_state& m : members_here())
    if (!m.name.empty()) return m.name;
  return fmt::format("a communicator of {} ranks", local_->size() + (remote_ != nullptr ? remote_->size() : 0));
}

void communicator::name_all(const char* name) {
  for (member_state& m : members_here()) {
    m.name = name;
    m.active = true;
  }
}

communicator_table::key communicator_table::key_of(context_id context, const group& local,
                                                   const group* remote) noexcept {
  return {context, remote != nullptr && local.world_of(0) > remote->world_of(0)};
}

communicator_ref communicator_table::make(job_ranks& job, context_id context, const group_ref& local,
                                          const group_ref& remote) {
  const std::lock_guard hold(mutex_);
  communicator*& at = all_[key_of(context, *local, remote.get())];  // no element moves below
  if (at == nullptr) {
    std::shared_ptr<collective_sites> shared;  // with the other side, if that is here
    if (remote != nullptr)
      if (const auto other = all_.find(key_of(context, *remote, local.get()));
          other != all_.end() && other->second != nullptr)
        shared = other->second->shared_sites();
    at = new communicator(job, context, local, remote, std::move(shared));
  }
  return communicator_ref(at);
}

communicator_ref communicator_table::find(context_id context) const {
  const std::lock_guard hold(mutex_);
  const auto at = all_.find({context, false});
  return communicator_ref(at == all_.end() ? nullptr : at->second);
}

// Only make() and find() take a reference of an object that has none, so under the lock the last one is the last.
void communicator_table::drop_last(communicator& c) noexcept {
  {
    const std::lock_guard hold(mutex_);
    if (!c.drop_if_last()) return;
    all_.erase(key_of(c.context(), c.local(), c.remote_ref().get()));
  }
  delete &c;
}

std::size_t communicator_table::size() const {
  const std::lock_guard hold(mutex_);
  return all_.size();
}

}  // namespace shoal::rank
