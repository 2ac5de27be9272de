// SPDX-License-Identifier: Apache-2.0
#include "bench/machine_facts.hpp"

#include <cstdlib>
#include <fstream>
#include <thread>

namespace shoal::bench {
namespace {

// The value of the first line "key<blanks>:<blanks>value" of a file of /proc.
std::string field(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, key.size(), key) != 0) continue;
    std::size_t colon = line.find(':', key.size());
    if (colon == std::string::npos) continue;
    std::size_t start = line.find_first_not_of(" \t", colon + 1);
    return start == std::string::npos ? "" : line.substr(start);
  }
  return "";
}

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line.empty() ? "unknown" : line;
}

// "always [madvise] never" -> "madvise"
std::string chosen(const std::string& line) {
  std::size_t open = line.find('[');
  std::size_t close = line.find(']');
  return open == std::string::npos || close == std::string::npos ? line : line.substr(open + 1, close - open - 1);
}

}  // namespace

machine_facts read_machine_facts() {
  machine_facts facts;
  facts.cpu_model = field("/proc/cpuinfo", "model name");
  if (facts.cpu_model.empty()) facts.cpu_model = "unknown";
  facts.cores = static_cast<int>(std::thread::hardware_concurrency());
  facts.memory_bytes = std::strtoull(field("/proc/meminfo", "MemTotal").c_str(), nullptr, 10) * 1024;
  facts.kernel = first_line("/proc/sys/kernel/osrelease");
  facts.huge_pages = chosen(first_line("/sys/kernel/mm/transparent_hugepage/enabled"));
  facts.shared_huge_pages = chosen(first_line("/sys/kernel/mm/transparent_hugepage/shmem_enabled"));
  facts.reserved_huge_pages = std::strtoll(field("/proc/meminfo", "HugePages_Total").c_str(), nullptr, 10);
  return facts;
}

}  // namespace shoal::bench
