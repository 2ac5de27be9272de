// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string>

#include "checks.hpp"

namespace shoal::house {
namespace {

// A header, or a folder of headers (ending in '/'), and the folders of src/ that may include it.
struct door {
  std::string_view header;
  std::array<std::string_view, 3> folders;
};

constexpr door k_doors[] = {
    {"hwloc.h", {"src/machine"}},
    {"hwloc/", {"src/machine"}},
    {"boost/context/", {"src/fiber"}},
    {"mpi.h", {"src/net/transports/mpi"}},
    {"pmix.h", {"src/launch/pmix"}},
    {"otf2/", {"src/trace/otf2"}},
    {"ucp/", {"src/net/transports/ucx"}},
    {"uct/", {"src/net/transports/ucx"}},
    {"unistd.h", {"src/machine", "src/base", "src/net/transports"}},
    {"time.h", {"src/machine", "src/base"}},
    {"sys/", {"src/machine", "src/net/transports"}},
    {"linux/", {"src/machine", "src/net/transports"}},
    {"fcntl.h", {"src/machine", "src/net/transports"}},
    {"netdb.h", {"src/machine"}},
    {"net/if.h", {"src/machine"}},
    {"netinet/", {"src/machine", "src/net/transports"}},
    {"arpa/", {"src/machine", "src/net/transports"}},
    {"poll.h", {"src/machine", "src/net/transports"}},
    {"pthread.h", {"src/machine"}},
    {"sched.h", {"src/machine"}},
    {"signal.h", {"src/machine"}},
    {"csignal", {"src/machine"}},
    {"dlfcn.h", {"src/machine"}},
    {"spawn.h", {"src/machine"}},
};

bool is_behind(const door& d, std::string_view header) {
  return d.header.ends_with('/') ? header.starts_with(d.header) : header == d.header;
}

bool may_open(const door& d, const source_file& file) {
  return std::ranges::any_of(d.folders, [&](std::string_view folder) { return !folder.empty() && file.under(folder); });
}

}  // namespace

findings check_doors(const tree& t) {
  findings found;
  for (const source_file& file : t.files()) {
    if (!file.has_suffix({".hpp", ".cpp", ".h", ".c"})) continue;
    if (!file.under("src") && !file.under("include")) continue;
    for (const include& line : includes_of(file)) {
      for (const door& d : k_doors) {
        if (!is_behind(d, line.path) || may_open(d, file)) continue;
        found.failures.push_back(file.path + ":" + std::to_string(line.line) + ": <" + line.path + "> belongs behind " +
                                 std::string(d.folders[0]));
      }
    }
  }
  return found;
}

}  // namespace shoal::house
