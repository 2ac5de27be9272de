// SPDX-License-Identifier: Apache-2.0
#include "array/node_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "array/plan.hpp"
#include "base/counted.hpp"
#include "machine/memory_info.hpp"
#include "machine/memory_placement.hpp"
#include "noise/injection.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/detail/call.hpp"
#include "shoal/detail/port.hpp"
#include "shoal/error.hpp"
#include "shoal/loop.hpp"

namespace shoal::array {
namespace {

// Injected noise may have a delay for each page.
void pass_first_touches(std::uint64_t bytes, machine::page_kind pages) noexcept {
  const std::uint64_t page = pages == machine::page_kind::huge ? machine::k_huge_page_bytes : machine::page_size();
  noise::passes(noise::injected_at::first_touch, (bytes + page - 1) / page);
}

}  // namespace

node_memory::node_memory(machine::segment& own, std::vector<std::byte*> bases, std::uint32_t node,
                         memory_options options)
    : own_(own), bases_(std::move(bases)), node_(node), options_(options) {
  if (node == 0) leases_ = std::make_unique<offset_heap>(own.capacity());
}

node_memory::lease node_memory::take(std::uint64_t bytes) {
  const std::lock_guard guard(leases_lock_);
  if (free_slots_.empty() && next_slot_ == k_most_arrays)
    throw error(errc::exhausted, fmt::format("there are {} global arrays already; free some", k_most_arrays));
  const auto offset = leases_->lease(bytes);
  if (!offset)
    throw error(errc::out_of_memory,
                fmt::format("a global array of {} per node does not fit into the segment of {} ({} is the largest "
                            "free part); raise SHOAL_SEGMENT or free arrays; {}",
                            machine::describe_bytes(bytes), machine::describe_bytes(own_.capacity()),
                            machine::describe_bytes(leases_->largest_free()), ledger_.text(node_)));
  std::uint32_t slot = next_slot_;
  if (free_slots_.empty()) {
    ++next_slot_;
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  return {*offset, slot, next_generation_++};
}

void node_memory::give_back(const lease& l, std::uint64_t bytes) {
  const std::lock_guard guard(leases_lock_);
  leases_->release(l.offset, bytes);
  free_slots_.push_back(l.slot);
}

void node_memory::add_owners(std::uint32_t slot, std::span<const std::uint32_t> owners) {
  const std::lock_guard hold(owners_lock_);
  auto& all = owners_[slot];
  all.insert(all.end(), owners.begin(), owners.end());
}

void node_memory::enter(const detail::array_layout& layout, std::span<const std::uint64_t> bounds) {
  std::unique_ptr<const detail::block_owners> owners;
  if (layout.kind == distribution::owned) {
    std::unique_lock hold(owners_lock_);
    const auto all = owners_.extract(layout.slot);
    hold.unlock();
    owners = std::make_unique<detail::block_owners>(all.mapped(), layout.nodes);
  }
  arrays_.enter(layout, {bounds.begin(), bounds.end()}, std::move(owners));
}

void node_memory::remove(const detail::array_layout& layout) noexcept {
  arrays_.remove(layout.slot);
  if (layout.kind != distribution::owned) return;
  const std::lock_guard hold(owners_lock_);
  owners_.erase(layout.slot);  // where it was not entered
}

committed_part node_memory::commit(const detail::array_layout& layout, std::uint64_t bytes, const commit_wish& wish) {
  const bool as_set = wish.pages == array_pages::as_set;
  const bool huge = as_set ? options_.pages != machine::page_choice::small : wish.pages == array_pages::huge;
  const auto pages = huge ? machine::page_kind::huge : machine::page_kind::small;
  committed_part got;
  try {
    got.pages = wish.placement == memory_nodes::interleave ? interleave(layout.offset, bytes, pages, got.placement)
                                                           : take_by_workers(layout.offset, bytes, pages);
    if (as_set) require_demanded(got.pages);
  } catch (const error& e) {
    throw error(e.code(), fmt::format("{}; {}", e.what(), ledger_.text(node_)));
  }
  if (pages == machine::page_kind::small && of_pool())
    got.pages.reason = "small pages were asked for, but all memory of the node is on those that the setting pages says";
  got.memory_nodes = machine::count_memory_nodes(own_.data() + layout.offset, bytes);
  ledger_.enter(layout, wish.label,
                {machine::round_up(bytes, machine::page_size()), got.pages.huge_bytes, got.pages.page_bytes});
  return got;
}

// 2m and 1g are no wishes. What is smaller than a page has no whole one to be on.
void node_memory::require_demanded(const machine::commit_report& got) const {
  const machine::page_choice wanted = options_.pages;
  if (wanted == machine::page_choice::small || wanted == machine::page_choice::huge_try) return;
  const std::size_t page =
      wanted == machine::page_choice::giant ? machine::k_giant_page_bytes : machine::k_huge_page_bytes;
  const bool right_kind = wanted == machine::page_choice::huge || own_.pool_page_bytes() == page;
  if (right_kind && (of_pool() || got.huge_bytes >= got.whole_bytes)) return;
  throw error(errc::out_of_memory,
              fmt::format("of {}, {} are on pages of {}, as the setting pages ({}) demands: {}; free memory on this "
                          "machine, or set pages to huge-try to go on without",
                          machine::describe_bytes(got.asked_bytes),
                          machine::describe_bytes(right_kind ? got.huge_bytes : 0), machine::describe_bytes(page),
                          to_string(wanted), right_kind ? got.reason : "the segment is ordinary memory"));
}

// Pieces on the memory nodes in turn, by the same workers as below.
machine::commit_report node_memory::interleave(std::uint64_t begin, std::uint64_t bytes, machine::page_kind pages,
                                               std::string& why_not) {
  const std::vector<unsigned> nodes = machine::allowed_memory_nodes();
  if (nodes.size() < 2) {
    why_not = "this machine has one memory node, or does not say which there are";
    return take_by_workers(begin, bytes, pages);
  }
  std::atomic<int> refused{0};  // partners: the other workers
  auto got = take_in_pieces(begin, bytes, pages, machine::k_huge_page_bytes, [&](std::uint64_t at, auto&& take) {
    const bool whole = pages == machine::page_kind::huge;
    const machine::memory_placement here(whole ? std::vector{nodes[at / machine::k_huge_page_bytes % nodes.size()]}
                                               : nodes);
    if (here.refused() != 0) refused.store(here.refused(), std::memory_order_relaxed);
    take();
  });
  if (const int cause = refused.load(std::memory_order_relaxed); cause != 0)
    why_not = fmt::format("the system refuses to place memory: {}", std::strerror(cause));
  return got;
}

machine::commit_report node_memory::take_by_workers(std::uint64_t begin, std::uint64_t bytes,
                                                    machine::page_kind pages) {
  constexpr std::uint64_t k_piece_bytes = 2 * machine::k_huge_page_bytes;  // a worker serves others after some ms
  return take_in_pieces(begin, bytes, pages, std::max<std::uint64_t>(k_piece_bytes, own_.pool_page_bytes()),
                        [](std::uint64_t, auto&& take) { take(); });
}

template <class Around>
machine::commit_report node_memory::take_in_pieces(std::uint64_t begin, std::uint64_t bytes, machine::page_kind pages,
                                                   std::uint64_t piece_bytes, const Around& around) {
  const std::uint64_t first_end = std::min(machine::round_up(begin + 1, piece_bytes), begin + bytes);
  const std::uint64_t pieces = 1 + (begin + bytes - first_end + piece_bytes - 1) / piece_bytes;
  if (pieces == 1) {
    machine::commit_report report;
    around(begin, [&] { report = own_.commit(begin, bytes, pages); });
    pass_first_touches(bytes, pages);
    return report;
  }
  own_.require(begin, bytes);
  std::atomic<int> refused{0};     // partners: the other workers
  affinity_partitioner by_worker;  // share i for worker i, but does not wait for one that computes
  parallel_for(
      pieces,
      [&](std::uint64_t k) {
        const std::uint64_t at = k == 0 ? begin : first_end + (k - 1) * piece_bytes;
        const std::uint64_t end = std::min(first_end + k * piece_bytes, begin + bytes);
        around(at, [&] {
          if (const int cause = own_.populate(at, end - at, pages); cause != 0)
            refused.store(cause, std::memory_order_relaxed);
        });
        pass_first_touches(end - at, pages);
        detail::take_turn(detail::worker_here());
      },
      by_worker);
  return own_.describe(begin, bytes, pages, refused.load(std::memory_order_relaxed));
}

void node_memory::release(const detail::array_layout& layout, std::uint64_t bytes) noexcept {
  ledger_.remove(layout);
  try {
    own_.release(layout.offset, offset_heap::rounded(bytes));
  } catch (const error&) {
    // The memory stays committed, which only costs memory; but it must read zero when it is leased again.
    std::memset(own_.data() + layout.offset, 0, bytes);
  }
}

}  // namespace shoal::array
