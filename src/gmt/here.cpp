// SPDX-License-Identifier: Apache-2.0
// The parts of gmt.h about where a task is, limits, random numbers, time and statistics; handles, whose table is in
// handles.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "base/log.hpp"
#include "gmt/gmt.h"
#include "gmt/handles.hpp"
#include "gmt/loops.hpp"
#include "gmt/misuse.hpp"
#include "gmt/node_state.hpp"
#include "gmt/task_state.hpp"
#include "machine/call_stack.hpp"
#include "machine/symbols.hpp"
#include "sched/pool.hpp"
#include "sched/worker.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/detail/call.hpp"
#include "shoal/on.hpp"
#include "shoal/task.hpp"

namespace shoal::gmt {
namespace {

constexpr std::array<const char*, k_events> k_event_names = {"tasks",   "loops",  "calls",
                                                             "handles", "arrays", "accesses by address"};

using totals = std::array<std::uint64_t, k_events>;

totals since(node_state& s, const std::array<std::atomic<std::uint64_t>, k_events>& base) {
  totals t{};
  for (std::size_t e = 0; e < k_events; ++e)
    t[e] = s.total(static_cast<event>(e)) - base[e].load(std::memory_order_relaxed);
  return t;
}

void reset(node_state& s, std::array<std::atomic<std::uint64_t>, k_events>& base) {
  for (std::size_t e = 0; e < k_events; ++e) base[e].store(s.total(static_cast<event>(e)), std::memory_order_relaxed);
}

std::uint64_t now_ns() { return sched::this_worker()->owner().executor().now_ns(); }

std::size_t wait_for_handle(std::uint32_t, std::span<const std::uint64_t> words, std::uint64_t*) {
  SHOAL_ASSERT(words.size() == 1, k_misshapen);
  node_state::here().handles.wait(static_cast<std::uint32_t>(words[0]));
  return 0;
}

}  // namespace
}  // namespace shoal::gmt

using namespace shoal::gmt;  // for the C functions below

uint32_t gmt_node_id() { return shoal::node_id(); }
uint32_t gmt_num_nodes() { return shoal::node_count(); }
uint32_t gmt_worker_id() { return shoal::worker_id(); }
uint32_t gmt_num_workers() { return shoal::worker_count(); }

int gmt_get_comm_buffer_size() { return static_cast<int>(shoal::detail::k_most_payload_words * 8); }
uint32_t gmt_max_args_per_task() { return k_most_argument_bytes; }
uint32_t gmt_max_return_size() { return k_most_argument_bytes; }
uint32_t gmt_max_tasks_per_worker() {
  return static_cast<std::uint32_t>(
      std::min<std::size_t>(shoal::sched::this_worker()->most_waiting(), ~std::uint32_t{0}));
}

void gmt_srand(uint64_t seed) { node_state::here().seed(seed); }
uint64_t gmt_rand() { return node_state::here().random(); }
double gmt_timer() { return static_cast<double>(now_ns()) * 1e-9; }

gmt_handle_t gmt_get_handle() {
  count(event::handle);
  return node_state::here().handles.make();
}

void gmt_wait_handle(gmt_handle_t handle) {
  handle_table& handles = node_state::here().handles;
  if (const task_state* const s = task_state::here(); s != nullptr && s->handle == handle && handle != GMT_HANDLE_NULL)
    refuse("gmt_wait_handle", "a task waits for the handle that it is of itself, and would wait for ever");
  const std::uint32_t owner = handles.owner(handle);
  if (handle == GMT_HANDLE_NULL || owner >= gmt_num_nodes()) refuse_handle("gmt_wait_handle", handle);
  if (owner == gmt_node_id()) return handles.wait(handle);
  const std::uint64_t word = handle;
  shoal::detail::completion call;
  shoal::detail::begin_call(call, owner, shoal::detail::callee_of<wait_for_handle>(), {&word, 1});
  call.wait_and_rethrow();
}

void gmt_yield() { shoal::yield(); }

void gmt_print_stack_trace() {
  shoal::machine::symbols names;
  std::string text = fmt::format("stack of a task on node {}, worker {}:", gmt_node_id(), gmt_worker_id());
  for (const void* const code : shoal::machine::call_stack()) {
    const std::string name = names.name_of(code);
    text += fmt::format("\n  {} {}", shoal::machine::symbols::place_of(code), name);
  }
  shoal::base::write_line("", text);
}

void gmt_timing(int flag) {
  node_state& s = node_state::here();
  const std::uint64_t now = now_ns();
  if (flag >= 0) {
    const double seconds = static_cast<double>(now - s.timing_since_ns.load(std::memory_order_relaxed)) * 1e-9;
    std::string text = fmt::format("node {}: {:.6f} s", gmt_node_id(), seconds);
    const totals t = since(s, s.timing_base);
    for (std::size_t e = 0; e < k_events; ++e)
      text += fmt::format(", {:.0f} {}/s", static_cast<double>(t[e]) / seconds, k_event_names[e]);
    shoal::base::write_line("", text);
  }
  if (flag == 0) return;
  s.timing_since_ns.store(now, std::memory_order_relaxed);
  reset(s, s.timing_base);
}

void gmt_profile(int flag) {
  node_state& s = node_state::here();
  if (flag >= 0) {
    std::string text = fmt::format("node {}:", gmt_node_id());
    const totals t = since(s, s.profile_base);
    for (std::size_t e = 0; e < k_events; ++e)
      text += fmt::format("{} {} {}", e == 0 ? "" : ",", t[e], k_event_names[e]);
    shoal::base::write_line("", text);
  }
  if (flag != 0) reset(s, s.profile_base);
}
