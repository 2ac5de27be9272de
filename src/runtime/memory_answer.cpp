// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "array/memory_text.hpp"
#include "base/table.hpp"
#include "machine/memory_info.hpp"

namespace shoal::runtime {
namespace {

using machine::describe_bytes;

constexpr std::string_view k_node = "node\t";

std::string now_and_most(const memory_amount& a) {
  return a.most_bytes == 0 ? "-" : fmt::format("{} ({})", describe_bytes(a.bytes), describe_bytes(a.most_bytes));
}

}  // namespace

std::string to_text(std::span<const node_memory> nodes) {
  std::string text;
  for (const node_memory& n : nodes) text += fmt::format("{}{}\n{}", k_node, n.node, array::to_text(n.use));
  return text;
}

std::optional<std::vector<node_memory>> parse_memories(std::string_view text) {
  std::vector<node_memory> nodes;
  while (!text.empty()) {
    if (!text.starts_with(k_node)) return std::nullopt;
    node_memory n;
    const std::size_t line_end = std::min(text.find('\n'), text.size());
    const auto read = std::from_chars(text.data() + k_node.size(), text.data() + line_end, n.node);
    if (read.ec != std::errc{} || read.ptr != text.data() + line_end) return std::nullopt;
    text.remove_prefix(std::min(line_end + 1, text.size()));
    if (text.empty()) return std::nullopt;
    const std::size_t end = std::min(text.find("\nnode\t"), text.size() - 1) + 1;
    auto use = array::parse_memory(text.substr(0, end));
    if (!use) return std::nullopt;
    n.use = std::move(*use);
    nodes.push_back(std::move(n));
    text.remove_prefix(end);
  }
  return nodes;
}

std::string table_of(std::span<const node_memory> nodes) {
  base::table table({"node", "arrays (most)", "containers (most)", "copies (most)", "stacks of committed",
                     "task blocks (most)", "buffers of reserved", "registered"});
  std::vector<memory_holder> holders;
  for (const node_memory& n : nodes) {
    const memory_usage& u = n.use;
    table.add(
        {fmt::to_string(n.node), now_and_most(u.arrays), now_and_most(u.tables), now_and_most(u.copies),
         fmt::format("{} of {}", describe_bytes(u.stack_resident_bytes), describe_bytes(u.stack_committed_bytes)),
         now_and_most(u.blocks),
         fmt::format("{} of {}", describe_bytes(u.buffer_resident_bytes + u.waiting_bytes),
                     describe_bytes(u.buffer_reserved_bytes)),
         u.registrations == 0 ? "-" : fmt::format("{} in {}", describe_bytes(u.registered_bytes), u.registrations)});
    array::merge_holders(holders, u.holders);
  }
  std::string text = table.text();
  for (const memory_holder& h : holders)
    text += fmt::format("\n  {:>10}  {}{}", describe_bytes(h.memory.bytes), array::describe(h),
                        h.count == 1 ? "" : fmt::format(" ({} parts)", h.count));
  return text;
}

}  // namespace shoal::runtime
