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
#include "shoal/detail/call_tree.hpp"
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

// Calls of all nodes, down a tree, have the place in front.
std::span<const std::uint64_t> behind_place(std::span<const std::uint64_t> arguments) noexcept {
  return arguments.subspan(1);
}

// Room for the tree and the place, and then a request.
template <class Request>
std::vector<std::uint64_t> words_for_all(const Request& request) {
  std::vector<std::uint64_t> words(k_tree_words + 1 + packed<Request>::k_words);
  packed<Request>::write(request, words.data() + k_tree_words + 1);
  return words;
}

void call_all(callee code, std::span<std::uint64_t> words) {
  call_tree tree(all_nodes_row(), code);
  completion calls;
  tree.begin(calls, words, call_tree::own_part::called);
  calls.wait_and_rethrow();
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
  const auto request = behind_place(arguments);
  const auto r = request_of<commit_request>(request);
  part_report report{};
  memory_here().enter(r.part.layout, request.subspan(packed<commit_request>::k_words));
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

// The reports of neighbours: what they have together, and the first reasons.
std::size_t combine_reports(std::uint32_t, std::span<const std::uint64_t>, std::uint64_t* answers) {
  auto all = packed<part_report>::read(answers);
  const auto more = packed<part_report>::read(answers + packed<part_report>::k_words);
  if (more.asked_bytes != 0)
    all.page_bytes = all.asked_bytes == 0 ? more.page_bytes : std::min(all.page_bytes, more.page_bytes);
  all.asked_bytes += more.asked_bytes;
  all.huge_bytes += more.huge_bytes;
  all.memory_nodes = std::max(all.memory_nodes, more.memory_nodes);
  if (all.reason[0] == 0) std::memcpy(all.reason, more.reason, sizeof all.reason);
  if (all.placement[0] == 0) std::memcpy(all.placement, more.placement, sizeof all.placement);
  packed<part_report>::write(all, answers);
  return packed<part_report>::k_words;
}

// Words: the slot, the number of owners, and two owners in each further word.
std::size_t take_owners(std::uint32_t, std::span<const std::uint64_t> arguments, std::uint64_t*) {
  const auto request = behind_place(arguments);
  std::vector<std::uint32_t> owners(request[1]);
  std::memcpy(owners.data(), request.data() + 2, owners.size() * sizeof(std::uint32_t));
  memory_here().add_owners(static_cast<std::uint32_t>(request[0]), owners);
  return 0;
}

// To all nodes, as much in one call as fits; the next part when it is there.
void send_owners(std::uint32_t slot, std::span<const std::uint32_t> owners) {
  constexpr std::size_t k_at_once = 2 * (k_most_call_words - 64);
  for (std::size_t done = 0; done < owners.size(); done += k_at_once) {
    const auto some = owners.subspan(done, std::min(k_at_once, owners.size() - done));
    constexpr std::size_t k_begin = k_tree_words + 1;
    std::vector<std::uint64_t> words(k_begin + 2 + (some.size() + 1) / 2);
    words[k_begin] = slot;
    words[k_begin + 1] = some.size();
    std::memcpy(words.data() + k_begin + 2, some.data(), some.size_bytes());
    call_all(callee_of<take_owners>(), words);
  }
}

// What flies to this array from this node has landed when this has run.
std::size_t settle_part(std::uint32_t, std::span<const std::uint64_t>, std::uint64_t*) {
  settle_workers();
  return 0;
}

std::size_t release_part(std::uint32_t, std::span<const std::uint64_t> arguments, std::uint64_t*) {
  const auto r = request_of<part_request>(behind_place(arguments));
  const std::uint64_t bytes = r.bytes_here();
  memory_here().remove(r.layout);
  if (bytes > 0) memory_here().release(r.layout, bytes);
  return 0;
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
    auto words = words_for_all(request);
    call_all(callee_of<settle_part>(), words);
    call_all(callee_of<release_part>(), words);
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

  const allocation_label label = how.label != nullptr ? *how.label : allocation_label(how.options.name, how.where);
  auto words = words_for_all(commit_request{{layout, bytes}, {label, how.options.pages, how.options.placement}});
  words.insert(words.end(), plan.bounds.begin(), plan.bounds.end());
  part_report all{};
  try {
    send_owners(layout.slot, plan.owners);
    call_tree tree(all_nodes_row(), callee_of<commit_part>(), callee_of<combine_reports>(),
                   packed<part_report>::k_words);
    completion calls;  // after the tree: waits before it goes
    tree.begin(calls, words, call_tree::own_part::called);
    calls.wait_and_rethrow();
    all = packed<part_report>::read(tree.combined({}).data());
  } catch (...) {
    free_array_of(layout, bytes);
    throw;
  }
  *report = {};
  report->asked_bytes = all.asked_bytes;
  report->huge_bytes = all.huge_bytes;
  report->page_bytes = all.page_bytes;
  report->reason = all.reason;
  report->memory_nodes = all.memory_nodes;
  report->placement = all.placement;
  return layout;
}

void free_array(const array_layout& layout) noexcept {
  SHOAL_ASSERT(t_worker != nullptr,
               "a global array is freed outside of tasks; free it in a task of its job, before the job or shoal::run "
               "ends");
  free_array_of(layout, layout.most_local() * layout.element_bytes);
}

}  // namespace shoal::detail
