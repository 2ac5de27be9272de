// SPDX-License-Identifier: Apache-2.0
#include "runtime/start_info.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "machine/socket.hpp"
#include "machine/topology.hpp"

namespace shoal::runtime {

rank::info_pairs start_info(const std::vector<std::string>& command, int ranks) {
  rank::info_pairs pairs;
  if (!command.empty()) {
    pairs.emplace_back("command", command.front());
    pairs.emplace_back("argv", fmt::format("{}", fmt::join(command.begin() + 1, command.end(), " ")));
  }
  pairs.emplace_back("maxprocs", std::to_string(ranks));
  pairs.emplace_back("host", machine::host_name());
  if (std::string kind = machine::architecture(); !kind.empty()) pairs.emplace_back("arch", std::move(kind));
  std::error_code failed;
  if (const auto folder = std::filesystem::current_path(failed); !failed) pairs.emplace_back("wdir", folder.string());
  pairs.emplace_back("mpi_memory_alloc_kinds", "system,mpi");
  return pairs;
}

}  // namespace shoal::runtime
