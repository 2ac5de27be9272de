// SPDX-License-Identifier: Apache-2.0
// In each wave every worker of every node reports how many operations its handlers have begun, and then waits until all
// that it has begun before, in tasks and handlers, has been executed. Two waves with equal sums end it. What counts is
// the worker's first fence in the wave, the wave's own or that of a loop that ends at the same time.
// Why: suppose that an operation has not been executed, or begun, when the second of two waves ends. Follow the
// operations that caused it back, up to one of a task from before the call. Let x be the first on this way that was begun
// after the first wave's fence of its worker (there is one, or else the wave waited for all). The operation that caused x
// was begun before that fence of its worker, so it was executed before the end of that wave, and x was begun then: after
// its worker's report in the first wave, before the one in the second. The counts differ.
#include "shoal/quiesce.hpp"

#include <array>
#include <cstdint>
#include <span>

#include "remote/waves.hpp"
#include "remote/worker_port.hpp"
#include "shoal/detail/call_tree.hpp"
#include "shoal/detail/completion.hpp"
#include "shoal/detail/port.hpp"

namespace shoal {
namespace {

std::size_t report_and_settle(std::uint32_t, std::span<const std::uint64_t>, std::uint64_t* answer) {
  remote::node_ports& ports = *detail::this_port().context->ports;
  ports.begin_wave();
  detail::settle_workers();
  answer[0] = ports.begun_by_handlers();
  return 1;
}

std::size_t add_counts(std::uint32_t, std::span<const std::uint64_t>, std::uint64_t* answers) {
  answers[0] += answers[1];
  return 1;
}

std::uint64_t wave() {
  std::array<std::uint64_t, detail::k_tree_words + 1> words{};
  detail::call_tree tree(detail::all_nodes_row(), detail::callee_of<report_and_settle>(),
                         detail::callee_of<add_counts>(), 1);
  detail::completion all;  // after the tree: waits before it goes
  tree.begin(all, words, detail::call_tree::own_part::called);
  all.wait_and_rethrow();
  return tree.combined({})[0];
}

}  // namespace

void quiesce() { remote::until_two_agree(wave); }

}  // namespace shoal
