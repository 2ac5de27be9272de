// SPDX-License-Identifier: Apache-2.0
#include "rank/collective_sites.hpp"

#include <algorithm>
#include <utility>

#include "rank/collective_call.hpp"

namespace shoal::rank {

collective_site::collective_site(collective_sites& of, std::size_t members, std::size_t lanes)
    : owner(of), arrivals(std::make_unique<collective_arrival[]>(members)), parts(std::make_unique<part[]>(lanes)) {
  for (std::size_t i = 0; i < lanes; ++i) {
    parts[i].by_errand.of = this;
    parts[i].by_errand.lane = i;
  }
}

collective_site::~collective_site() = default;

bool collective_site::has_calls() const noexcept {
  for (std::size_t i = 0; i < owner.lanes(); ++i)
    if (parts[i].has_calls) return true;
  return false;
}

collective_sites::collective_sites(std::span<sched::worker* const> homes) {
  for (std::size_t i = 0; i < homes.size(); ++i) {
    auto at = std::ranges::find(lanes_, homes[i], &worker_lane::home);
    if (at == lanes_.end()) {
      at = lanes_.emplace(lanes_.end());
      at->home = homes[i];
    }
    at->members.push_back(static_cast<std::uint32_t>(i));
    lane_of_.push_back(static_cast<std::uint32_t>(at - lanes_.begin()));
  }
}

collective_sites::~collective_sites() = default;

collective_site* collective_sites::arrive(std::size_t index, std::uint64_t sequence, const collective_arrival& mine) {
  const fiber::tsan_ignore_scope ignore;
  const std::size_t number = lane_of_[index];
  worker_lane& l = lanes_[number];
  collective_site* site = l.open.find(sequence);
  if (site == nullptr) [[unlikely]]
    site = &open(l, sequence);
  site->arrivals[index] = mine;
  collective_site::part& p = site->parts[number];
  p.has_calls |= mine.call != nullptr;
  p.has_requests |= mine.task == nullptr;
  fiber::release_to(&p);
  if (--p.missing != 0) return nullptr;
  fiber::acquire_from(&p);
  // Release, acquire: what the members of all lanes have left is there for the last one.
  if (lanes_.size() > 1 && site->lanes_missing.fetch_sub(1, std::memory_order_acq_rel) != 1) return nullptr;
  return site;
}

// For the first member of a lane to come.
[[gnu::noinline]] collective_site& collective_sites::open(worker_lane& of, std::uint64_t sequence) {
  const std::lock_guard hold(mutex_);
  collective_site* site = lanes_.size() > 1 ? open_.find(sequence) : nullptr;
  if (site == nullptr) {
    if (free_.empty()) {
      all_.push_back(std::make_unique<collective_site>(*this, members(), lanes_.size()));
      free_.reserve(all_.size());
      free_.push_back(all_.back().get());
    }
    site = free_.back();
    site->sequence = sequence;
    if (lanes_.size() > 1) open_.add(*site);
    free_.pop_back();
    site->error = MPI_SUCCESS;
    site->lanes_missing.store(lanes_.size(), std::memory_order_relaxed);
    site->lanes_open.store(lanes_.size(), std::memory_order_relaxed);
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      site->parts[i].missing = lanes_[i].members.size();
      site->parts[i].has_calls = site->parts[i].has_requests = false;
    }
  }
  of.open.add(*site);
  return *site;
}

void collective_sites::leave(collective_site& site) noexcept {
  // Release, acquire: no lane reads of it any more.
  if (lanes_.size() > 1 && site.lanes_open.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  const std::lock_guard hold(mutex_);
  if (lanes_.size() > 1) open_.remove(site);
  free_.push_back(&site);
}

void collective_sites::open_sites::add(collective_site& site) {
  constexpr std::size_t k_initial = 4;
  ring& all = rings_[site.sequence >> 63];
  if (all.empty()) all.resize(k_initial);
  while (all[site.sequence & (all.size() - 1)] != nullptr) {
    ring larger(2 * all.size());
    // Two of these may differ by a multiple of the new size only if they did by one of the old size.
    for (collective_site* s : all)
      if (s != nullptr) larger[s->sequence & (larger.size() - 1)] = s;
    all = std::move(larger);
  }
  all[site.sequence & (all.size() - 1)] = &site;
}

}  // namespace shoal::rank
