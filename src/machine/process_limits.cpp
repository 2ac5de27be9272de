// SPDX-License-Identifier: Apache-2.0
#include "machine/process_limits.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <memory>
#include <utility>

#include "machine/mapping.hpp"
#include "machine/memory_info.hpp"

namespace shoal::machine {
namespace {

constexpr std::uint64_t k_stack_without_limit = std::uint64_t{2} << 20;  // what the C library takes then
constexpr const char* k_fewer = "or use fewer nodes and workers";

std::uint64_t limit_of(int resource) {
  rlimit limit{};
  const bool known = ::getrlimit(static_cast<__rlimit_resource>(resource), &limit) == 0;
  return known && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur : k_no_limit;
}

std::uint64_t threads_of(const std::string& process) {
  std::ifstream in("/proc/" + process + "/status");
  for (std::string word; in >> word;) {
    std::uint64_t threads = 0;
    if (word == "Threads:" && in >> threads) return threads;
  }
  return 0;  // it has ended
}

std::uint64_t threads_of_user() {
  const std::unique_ptr<DIR, int (*)(DIR*)> processes(::opendir("/proc"), &::closedir);
  std::uint64_t sum = 0;
  while (const dirent* const one = processes ? ::readdir(processes.get()) : nullptr) {
    const std::string name = one->d_name;
    struct stat status {};
    if (std::isdigit(static_cast<unsigned char>(name.front())) == 0) continue;
    if (::stat(("/proc/" + name).c_str(), &status) == 0 && status.st_uid == ::getuid()) sum += threads_of(name);
  }
  return sum;
}

std::uint64_t address_space_used() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * page_size();
}

std::string of_group(const process_limits& l) {
  return fmt::format("the control group allows {} processes and threads (pids.max in {}), and has {}", l.group.limit,
                     l.group.path, l.group.current);
}
std::string of_user(const process_limits& l) {
  return fmt::format("this user may have {} processes and threads (ulimit -u), and has {}", l.user_limit,
                     l.user_current);
}
std::string of_address_space(const process_limits& l) {
  return fmt::format(
      "the address space is limited to {} (ulimit -v), {} are in use, and the stack of a thread takes {}",
      describe_bytes(l.address_space_bytes), describe_bytes(l.address_space_used_bytes), describe_bytes(l.stack_bytes));
}

std::string of_commitments(const process_limits& l) {
  return fmt::format(
      "the machine promises programs no more than {} of memory (vm.overcommit_memory 2), it has promised {} to those "
      "that run, and the stack of a thread takes {}",
      describe_bytes(l.commit_bytes), describe_bytes(l.commit_used_bytes), describe_bytes(l.stack_bytes));
}

void read_commitments(process_limits& l) {
  int mode = 0;
  if (!(std::ifstream("/proc/sys/vm/overcommit_memory") >> mode) || mode != 2) return;
  std::ifstream in("/proc/meminfo");
  std::string name;
  for (std::uint64_t kib = 0; in >> name >> kib; in.ignore(64, '\n')) {
    if (name == "CommitLimit:") l.commit_bytes = kib * 1024;
    if (name == "Committed_AS:") l.commit_used_bytes = kib * 1024;
  }
}

}  // namespace

process_limits read_process_limits() {
  process_limits l;
  l.group = read_process_group();
  if (::getuid() != 0) l.user_limit = limit_of(RLIMIT_NPROC);
  if (l.user_limit != k_no_limit) l.user_current = threads_of_user();
  l.address_space_bytes = limit_of(RLIMIT_AS);
  l.address_space_used_bytes = address_space_used();
  const std::uint64_t stack = limit_of(RLIMIT_STACK);
  l.stack_bytes = stack == k_no_limit ? k_stack_without_limit : stack;
  read_commitments(l);
  return l;
}

std::string describe_process_limits(const process_limits& l) {
  if (l.group.current >= l.group.limit) return fmt::format("{}; raise that, {}", of_group(l), k_fewer);
  if (l.address_space_bytes != k_no_limit && l.address_space_used_bytes + l.stack_bytes >= l.address_space_bytes)
    return fmt::format("{}; raise it with ulimit -v, make stacks smaller with ulimit -s, {}", of_address_space(l),
                       k_fewer);
  if (l.commit_bytes != k_no_limit && l.commit_used_bytes + l.stack_bytes >= l.commit_bytes)
    return fmt::format(
        "{}; set vm.overcommit_memory to 0, raise vm.overcommit_ratio, make stacks smaller with ulimit -s, {}",
        of_commitments(l), k_fewer);
  if (l.user_current >= l.user_limit) return fmt::format("{}; raise that with ulimit -u, {}", of_user(l), k_fewer);
  // None is reached now: others have ended meanwhile, or what counts cannot be seen from here.
  std::string all;
  const auto add = [&all](const std::string& one) { all += all.empty() ? one : "; " + one; };
  if (l.group.limit != k_no_limit) add(of_group(l));
  if (l.user_limit != k_no_limit) add(of_user(l));
  if (l.address_space_bytes != k_no_limit) add(of_address_space(l));
  if (l.commit_bytes != k_no_limit) add(of_commitments(l));
  if (all.empty()) all = "no limit can be seen from here: a container may have one, or the machine has no memory left";
  return fmt::format(
      "{}; raise the limit that was reached (ulimit -u, ulimit -v, pids.max of the control group, "
      "vm.overcommit_ratio), {}",
      all, k_fewer);
}

std::string describe_process_limits() { return describe_process_limits(read_process_limits()); }

std::uint64_t allow_descriptors(std::uint64_t count) noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  if (limit.rlim_cur >= count) return limit.rlim_cur;
  const rlim_t before = std::exchange(limit.rlim_cur, std::min<rlim_t>(count, limit.rlim_max));
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : before;
}

}  // namespace shoal::machine
