// SPDX-License-Identifier: Apache-2.0
#include "machine/description.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <cmath>
#include <fstream>
#include <string_view>

#include "machine/huge_buffer.hpp"
#include "machine/memory_info.hpp"
#include "machine/reserved_range.hpp"
#include "machine/segment.hpp"

namespace shoal::machine {
namespace {

std::string counted(unsigned number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

// The word in brackets: "always [madvise] never".
std::string chosen(const char* file) {
  std::string line;
  std::getline(std::ifstream(file), line);
  const auto open = line.find('[');
  const auto close = line.find(']');
  return open == std::string::npos || close == std::string::npos ? "unknown" : line.substr(open + 1, close - open - 1);
}

std::string describe_private_huge_pages() {
  const huge_buffer probe(k_huge_page_bytes);
  return fmt::format("{} (mode {})", probe.huge_bytes() != 0 ? "given" : "not given",
                     chosen("/sys/kernel/mm/transparent_hugepage/enabled"));
}

std::string describe_shared_huge_pages() {
  segment probe = segment::create("shoal-probe", k_huge_page_bytes);
  probe.map();
  const commit_report report = probe.commit(0, k_huge_page_bytes);
  return report.huge_bytes != 0 ? std::string("given") : fmt::format("not given: {}", report.reason);
}

std::string describe_guards() {
  reserved_range probe(page_size(), page_size());
  probe.commit(0, page_size());
  return guard_install(probe.data(), page_size()) ? "without a mapping each"
                                                  : "not in this kernel (Linux 6.13 has them)";
}

}  // namespace

std::vector<fact> describe_machine(const topology& processors) {
  std::vector<fact> facts;
  utsname system{};
  if (::uname(&system) == 0) {
    facts.push_back({"host", system.nodename});
    facts.push_back({"kernel", fmt::format("{} {} {}", system.sysname, system.release, system.machine)});
  }
  if (const std::string model = processors.model(); !model.empty()) facts.push_back({"processor", model});
  const auto number = static_cast<unsigned>(processors.processors().size());
  facts.push_back({"processors", fmt::format("{} on {}, {}, {}", number, counted(processors.cores(), "core"),
                                             counted(processors.packages(), "package"),
                                             counted(processors.numa_nodes(), "NUMA node"))});
  if (const std::string caches = processors.caches(); !caches.empty()) facts.push_back({"caches", caches});
  facts.push_back({"may use", "processors " + processors.affinity()});
  facts.push_back({"quota", std::isinf(processors.cpu_quota())
                                ? std::string("none")
                                : fmt::format("{:.2f} processors", processors.cpu_quota())});
  const memory_status memory = memory_info();
  facts.push_back({"memory", fmt::format("{}, {} available", describe_bytes(memory.total_bytes),
                                         describe_bytes(memory.available_bytes))});
  facts.push_back({"memory limit", memory.group.limit_bytes == k_no_limit
                                       ? std::string("none")
                                       : fmt::format("{}, {} in use ({})", describe_bytes(memory.group.limit_bytes),
                                                     describe_bytes(memory.group.current_bytes), memory.group.path)});
  facts.push_back({"page", describe_bytes(page_size())});
  facts.push_back({"2 MiB pages, private", describe_private_huge_pages()});
  facts.push_back({"2 MiB pages, shared", describe_shared_huge_pages()});
  facts.push_back({"guard pages", describe_guards()});
  return facts;
}

}  // namespace shoal::machine
