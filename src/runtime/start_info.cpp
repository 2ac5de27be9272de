// SPDX-License-Identifier: Apache-2.0
#include "runtime/start_info.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "machine/socket.hpp"

namespace shoal::runtime {
namespace {

#if defined(__x86_64__)
constexpr const char* k_architecture = "x86_64";
#elif defined(__aarch64__)
constexpr const char* k_architecture = "aarch64";
#else
constexpr const char* k_architecture = nullptr;
#endif

}  // namespace

rank::info_pairs start_info(const std::vector<std::string>& command, int ranks) {
  rank::info_pairs pairs;
  if (!command.empty()) {
    pairs.emplace_back("command", command.front());
    pairs.emplace_back("argv", fmt::format("{}", fmt::join(command.begin() + 1, command.end(), " ")));
  }
  pairs.emplace_back("maxprocs", std::to_string(ranks));
  pairs.emplace_back("host", machine::host_name());
  if (k_architecture != nullptr) pairs.emplace_back("arch", k_architecture);
  std::error_code failed;
  if (const auto folder = std::filesystem::current_path(failed); !failed) pairs.emplace_back("wdir", folder.string());
  pairs.emplace_back("mpi_memory_alloc_kinds", "system,mpi");
  return pairs;
}

}  // namespace shoal::runtime
