// SPDX-License-Identifier: Apache-2.0
#include "array/memory_survey.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "array/memory_text.hpp"
#include "array/node_memory.hpp"
#include "machine/memory_info.hpp"
#include "remote/worker_port.hpp"
#include "sched/pool.hpp"
#include "shoal/detail/call.hpp"
#include "shoal/detail/port.hpp"
#include "shoal/error.hpp"

namespace shoal::array {
namespace {

void add_stacks(memory_usage& to, sched::pool& pool) {
  pool.visit_stacks([&to](const fiber::stack_region& region) {
    const fiber::stack_usage u = region.usage();
    to.stacks += u.stacks;
    to.stack_resident_bytes += u.resident_bytes;
    to.stack_huge_bytes += u.huge_bytes;
    to.stack_committed_bytes += u.committed_bytes;
    to.stack_reserved_bytes += u.reserved_bytes;
  });
}

void add_blocks(memory_usage& to) {
  for (const std::size_t bytes : {detail::worker_base::k_small_block_bytes, detail::worker_base::k_block_bytes}) {
    const sched::block_store& store = sched::block_store::of_size(bytes);
    add(to.blocks, {store.slabs() * sched::block_slab::k_bytes, store.most_slabs() * sched::block_slab::k_bytes});
  }
}

}  // namespace

memory_usage survey(sched::pool& pool, const node_memory* memory, const remote::node_ports* ports, bool of_process) {
  memory_usage use;
  add_stacks(use, pool);
  if (of_process) add_blocks(use);
  if (memory != nullptr) memory->ledger().report(use);
  if (ports != nullptr) {
    const net::buffer_memory buffers = ports->transport().buffers();
    use.buffer_resident_bytes = buffers.resident_bytes;
    use.buffer_reserved_bytes = buffers.reserved_bytes;
    const net::registered_memory registered = ports->transport().registered();
    use.registrations = registered.times;
    use.registered_bytes = registered.bytes;
    use.waiting_bytes = ports->overflow().used_bytes();
    use.waiting_limit_bytes = ports->overflow().limit_bytes();
  }
  use.usable_bytes = machine::memory_info().usable_bytes();
  return use;
}

namespace {

memory_usage survey_here() {
  const detail::node_context& c = *detail::port_here().context;
  return survey(sched::this_worker()->owner(), c.memory, c.ports, c.memory->options().first_of_process);
}

// The answer's first word is the number of the text's bytes.
std::size_t write_answer(const memory_usage& use, std::uint64_t* answer) {
  const std::string text = to_text(use);
  answer[0] = text.size();
  std::memcpy(answer + 1, text.data(), text.size());
  return 1 + (text.size() + 7) / 8;
}

class asked_node {
public:
  void begin(detail::completion& calls, std::uint32_t node, detail::callee code,
             std::span<const std::uint64_t> arguments) {
    detail::begin_call(calls, node, code, arguments, words_.data(), words_.size());
  }
  memory_usage usage() const {
    const auto* const text = reinterpret_cast<const char*>(words_.data() + 1);
    const std::optional<memory_usage> use = parse_memory({text, std::min(words_[0], 8 * (words_.size() - 1))});
    if (!use)
      throw error(errc::mismatch, "a node reports its memory in another form; are all nodes of the same build?");
    return *use;
  }

private:
  std::vector<std::uint64_t> words_ = std::vector<std::uint64_t>(detail::k_most_call_words);
};

std::size_t use_there(std::uint32_t, std::span<const std::uint64_t>, std::uint64_t* answer) {
  return write_answer(survey_here(), answer);
}

memory_usage use_below(std::uint32_t root);

// Of this node and of those below it in the tree of which node `root` is the root.
std::size_t use_below_there(std::uint32_t, std::span<const std::uint64_t> arguments, std::uint64_t* answer) {
  return write_answer(use_below(static_cast<std::uint32_t>(arguments[0])), answer);
}

memory_usage use_below(std::uint32_t root) {
  const detail::port& p = detail::port_here();
  const std::uint32_t nodes = p.nodes;
  const std::uint64_t place = (p.node + std::uint64_t{nodes} - root) % nodes;
  std::array<asked_node, 2> below;
  detail::completion calls;
  const std::uint64_t argument = root;
  for (std::uint64_t k = 0; k < 2; ++k)
    if (const std::uint64_t there = 2 * place + 1 + k; there < nodes)
      below[k].begin(calls, static_cast<std::uint32_t>((root + there) % nodes), detail::callee_of<use_below_there>(),
                     {&argument, 1});
  memory_usage all;
  try {
    all = survey_here();
  } catch (...) {
    calls.wait();  // the answers go to `below`
    throw;
  }
  calls.wait_and_rethrow();
  for (std::uint64_t k = 0; k < 2; ++k)
    if (2 * place + 1 + k < nodes) add(all, below[k].usage());
  return all;
}

}  // namespace
}  // namespace shoal::array

namespace shoal {

memory_usage memory_use(std::uint32_t node) {
  const detail::port& p = detail::port_here();
  if (node >= p.nodes)
    throw error(errc::invalid_argument, fmt::format("there is no node {}; the job has {} nodes", node, p.nodes));
  array::asked_node asked;
  detail::completion call;
  asked.begin(call, node, detail::callee_of<array::use_there>(), {});
  call.wait_and_rethrow();
  return asked.usage();
}

memory_usage memory_use() { return array::use_below(detail::port_here().node); }

}  // namespace shoal
