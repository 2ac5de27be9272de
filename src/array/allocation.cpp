// SPDX-License-Identifier: Apache-2.0
// Allocation and free of an array on all nodes: node 0 leases an offset, every node commits its part, and the array is
// entered into the tables (shoal/detail/array_access.hpp).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "array/node_memory.hpp"
#include "array/plan.hpp"
#include "base/counted.hpp"
#include "machine/memory_info.hpp"
#include "shoal/detail/array_access.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/detail/call.hpp"
#include "shoal/detail/port.hpp"
#include "shoal/error.hpp"
#include "shoal/loop.hpp"

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
