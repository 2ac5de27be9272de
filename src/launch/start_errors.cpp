// SPDX-License-Identifier: Apache-2.0
#include "launch/start_errors.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "machine/memory_info.hpp"

namespace shoal::launch {

std::string code_mismatch(std::uint32_t node, std::uint32_t than) {
  std::string text = fmt::format(
      "node {} runs another program, or other versions of its libraries, than node {}; start all nodes "
      "from the same build",
      node, than);
  if (machine::address_space_limit() == machine::k_no_limit) return text;
  return fmt::format("{}. One of the nodes may have failed to load a library: {}", text,
                     machine::describe_address_space_limits());
}

std::string other_settings(std::uint32_t node, const std::string& its, std::uint32_t than, const std::string& theirs) {
  return fmt::format(
      "node {} was started with other settings ({}) than node {} ({}); give all nodes the same SHOAL_ variables", node,
      its, than, theirs);
}

std::string started_already(std::uint32_t node) {
  return fmt::format(
      "node {} has been started already: what the launcher starts runs one program of the job, once; "
      "start a job for each",
      node);
}

std::string not_started(const std::vector<std::uint32_t>& nodes, std::int64_t within_ns) {
  constexpr std::size_t most_named = 8;
  std::string list = nodes.size() == 1 ? "node " : "nodes ";
  const std::size_t named = std::min(nodes.size(), most_named);
  for (std::size_t i = 0; i < named; ++i) {
    if (i != 0) list += i + 1 == nodes.size() ? " and " : ", ";
    list += std::to_string(nodes[i]);
  }
  if (named < nodes.size()) list += fmt::format(" and {} more", nodes.size() - named);
  return fmt::format("{} {} not started within {}; see {} messages above, or start the job with fewer nodes", list,
                     nodes.size() == 1 ? "has" : "have", seconds(within_ns), nodes.size() == 1 ? "its" : "their");
}

std::string seconds(std::int64_t ns) { return fmt::format("{:g} s", static_cast<double>(ns) / 1e9); }

}  // namespace shoal::launch
