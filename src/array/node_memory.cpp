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

namespace shoal::detail {
namespace {

using array::node_memory;

node_memory& memory_here() noexcept { return *this_port().context->memory; }

struct part_request {
  array_layout layout;
  std::uint64_t bytes;  // of the longest part

  // Of this node's part, once the array is in its table.
  std::uint64_t bytes_here() const noexcept {
    return layout.local_range(memory_here().node()).count * layout.element_bytes;
  }
  node_memory::lease lease() const noexcept { return {layout.offset, layout.slot, layout.generation}; }
};

struct commit_request {
  part_request part;
  array::commit_wish wish;
};

struct part_report {
  std::uint64_t asked_bytes;
  std::uint64_t huge_bytes;
  std::uint64_t page_bytes;
  std::uint32_t memory_nodes;
  char reason[112];
  char placement[100];
};

template <class Request>
Request request_of(std::span<const std::uint64_t> words) noexcept {
  return packed<Request>::read(words.data());
}

template <class Request>
struct words_of {
  explicit words_of(const Request& r) noexcept { packed<Request>::write(r, words.data()); }
  std::array<std::uint64_t, packed<Request>::k_words> words;
};

std::size_t take_on_node_0(std::uint32_t, std::span<const std::uint64_t> arguments, std::uint64_t* answer) {
  packed<node_memory::lease>::write(memory_here().take(arguments[0]), answer);
  return packed<node_memory::lease>::k_words;
}

std::size_t give_back_on_node_0(std::uint32_t, std::span<const std::uint64_t> arguments, std::uint64_t*) {
  const auto r = request_of<part_request>(arguments);
  memory_here().give_back(r.lease(), r.bytes);
  return 0;
}

std::size_t commit_part(std::uint32_t, std::span<const std::uint64_t> arguments, std::uint64_t* answer) {
  const auto r = request_of<commit_request>(arguments);
  part_report report{};
  memory_here().enter(r.part.layout, arguments.subspan(packed<commit_request>::k_words));
  if (const std::uint64_t bytes = r.part.bytes_here(); bytes > 0) {
    const auto got = memory_here().commit(r.part.layout, bytes, r.wish);
    report.asked_bytes = bytes;
    report.huge_bytes = got.pages.huge_bytes;
    report.page_bytes = got.pages.page_bytes;
    report.memory_nodes = got.memory_nodes;
    got.pages.reason.copy(report.reason, sizeof report.reason - 1);
    got.placement.copy(report.placement, sizeof report.placement - 1);
  }
  packed<part_report>::write(report, answer);
  return packed<part_report>::k_words;
}

// Words: the slot, the number of owners, and two owners in each further word.
std::size_t take_owners(std::uint32_t, std::span<const std::uint64_t> arguments, std::uint64_t*) {
  std::vector<std::uint32_t> owners(arguments[1]);
  std::memcpy(owners.data(), arguments.data() + 2, owners.size() * sizeof(std::uint32_t));
  memory_here().add_owners(static_cast<std::uint32_t>(arguments[0]), owners);
  return 0;
}

// To all nodes, as much in one call as fits; the next part when it is there.
void send_owners(std::uint32_t slot, std::span<const std::uint32_t> owners) {
  constexpr std::size_t k_at_once = 2 * (k_most_call_words - 64);
  for (std::size_t done = 0; done < owners.size(); done += k_at_once) {
    const auto some = owners.subspan(done, std::min(k_at_once, owners.size() - done));
    std::vector<std::uint64_t> words(2 + (some.size() + 1) / 2);
    words[0] = slot;
    words[1] = some.size();
    std::memcpy(words.data() + 2, some.data(), some.size_bytes());
    completion calls;
    for (std::uint32_t n = 0; n < this_port().nodes; ++n) begin_call(calls, n, callee_of<take_owners>(), words);
    calls.wait_and_rethrow();
  }
}

// What flies to this array from this node has landed when this has run.
std::size_t settle_part(std::uint32_t, std::span<const std::uint64_t>, std::uint64_t*) {
  settle_workers();
  return 0;
}

std::size_t release_part(std::uint32_t, std::span<const std::uint64_t> arguments, std::uint64_t*) {
  const auto r = request_of<part_request>(arguments);
  const std::uint64_t bytes = r.bytes_here();
  memory_here().remove(r.layout);
  if (bytes > 0) memory_here().release(r.layout, bytes);
  return 0;
}

void call_all(callee code, const part_request& request) {
  completion all;
  const words_of<part_request> w(request);
  for (std::uint32_t n = 0; n < this_port().nodes; ++n) begin_call(all, n, code, w.words);
  all.wait_and_rethrow();
}

void check_size(const array_layout& layout, std::uint64_t part_bytes) {
  const auto& memory = memory_here();
  if (memory.of_pool()) return;  // which has its own count
  // The nodes of this machine commit their parts at the same time, so the check must count all of them together.
  const std::uint64_t parts = std::min<std::uint64_t>(layout.node_count, memory.options().nodes_on_machine);
  const std::string what = fmt::format("a global array of {} of {}", base::counted(layout.size, "element"),
                                       base::counted(layout.element_bytes, "byte"));
  if (part_bytes > ~std::uint64_t{0} / parts) throw error(errc::out_of_memory, what + " is larger than any memory");
  try {
    machine::require_memory(std::min(part_bytes * parts, layout.size * layout.element_bytes), what);
  } catch (const error& e) {
    throw error(e.code(), fmt::format("{}; {}", e.what(), memory.ledger().text(memory.node())));
  }
}

// The elements of the node that holds most.
std::uint64_t most_of(const array_layout& layout, const distribution_plan& plan) {
  if (plan.kind != distribution::owned) return layout.most_local();
  const std::uint64_t blocks = block_owners(plan.owners, layout.nodes).most_blocks();
  return std::min(blocks * plan.block, layout.size);
}

void free_array_of(const array_layout& layout, std::uint64_t bytes) noexcept {
  const part_request request{layout, bytes};
  try {
    call_all(callee_of<settle_part>(), request);
    call_all(callee_of<release_part>(), request);
    completion last;
    const words_of<part_request> w(request);
    begin_call(last, 0, callee_of<give_back_on_node_0>(), w.words);
    last.wait_and_rethrow();
  } catch (const error&) {
    // A node is lost, and the job ends; there is nothing to free.
  }
}

}  // namespace

array_layout allocate_array(std::uint64_t size, std::size_t element_bytes, element type,
                            const distribution_plan& wanted, const allocation& how, memory_report* report) {
  worker_here();  // fails with a message outside of tasks
  port& p = this_port();
  const distribution_plan plan = array::resolved(wanted, size, p.nodes);
  const bool one_holder =
      plan.kind == distribution::local || plan.kind == distribution::blocks || plan.kind == distribution::owned;
  const std::uint64_t holders = one_holder ? 1 : plan.parts != 0 ? plan.parts : p.nodes;
  if (size / holders > k_offset_mask / element_bytes)
    throw error(errc::out_of_memory, fmt::format("a global array of {} elements of {} bytes is larger than the address "
                                                 "space of its nodes ({} each)",
                                                 size, element_bytes, machine::describe_bytes(k_offset_mask + 1)));
  array_layout layout = array::layout_of(plan, size, element_bytes, p.node, p.nodes);
  layout.size = size;
  layout.type = type;
  if (size == 0) return layout;
  const std::uint64_t bytes = most_of(layout, plan) * element_bytes;
  check_size(layout, bytes);

  std::array<std::uint64_t, packed<node_memory::lease>::k_words> lease_words;
  {
    completion lease_call;
    const std::uint64_t argument = bytes;
    begin_call(lease_call, 0, callee_of<take_on_node_0>(), {&argument, 1}, lease_words.data(), lease_words.size());
    lease_call.wait_and_rethrow();
  }
  const auto lease = packed<node_memory::lease>::read(lease_words.data());
  layout.offset = lease.offset;
  layout.slot = lease.slot;
  layout.generation = lease.generation;

  constexpr std::size_t k_report_words = packed<part_report>::k_words;
  std::vector<std::uint64_t> reports(p.nodes * k_report_words);
  const std::uint32_t nodes = p.nodes;
  const allocation_label label = how.label != nullptr ? *how.label : allocation_label(how.options.name, how.where);
  std::vector<std::uint64_t> words(packed<commit_request>::k_words);
  packed<commit_request>::write({{layout, bytes}, {label, how.options.pages, how.options.placement}}, words.data());
  words.insert(words.end(), plan.bounds.begin(), plan.bounds.end());
  try {
    send_owners(layout.slot, plan.owners);
    completion calls;
    for (std::uint32_t n = 0; n < nodes; ++n) {
      begin_call(calls, n, callee_of<commit_part>(), words, &reports[n * k_report_words], k_report_words);
    }
    calls.wait_and_rethrow();
  } catch (...) {
    free_array_of(layout, bytes);
    throw;
  }
  *report = {};
  for (std::uint32_t n = 0; n < nodes; ++n) {
    const auto part = packed<part_report>::read(&reports[n * k_report_words]);
    report->asked_bytes += part.asked_bytes;
    report->huge_bytes += part.huge_bytes;
    if (part.asked_bytes != 0)
      report->page_bytes = report->page_bytes == 0 ? part.page_bytes : std::min(report->page_bytes, part.page_bytes);
    if (report->reason.empty()) report->reason = part.reason;
    report->memory_nodes = std::max(report->memory_nodes, part.memory_nodes);
    if (report->placement.empty()) report->placement = part.placement;
  }
  return layout;
}

void free_array(const array_layout& layout) noexcept {
  SHOAL_ASSERT(t_worker != nullptr,
               "a global array is freed outside of tasks; free it in a task of its job, before the job or shoal::run "
               "ends");
  free_array_of(layout, layout.most_local() * layout.element_bytes);
}

}  // namespace shoal::detail
