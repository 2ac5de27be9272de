// SPDX-License-Identifier: Apache-2.0
#include "machine/memory_info.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <shoal/error.hpp>

namespace shoal::machine {
namespace {

// The margin for page tables, kernel structures and other processes: 1/64 of the memory, at most this.
constexpr std::uint64_t k_largest_margin_bytes = std::uint64_t{256} << 20;

std::uint64_t margin_of(std::uint64_t bytes) { return std::min(bytes / 64, k_largest_margin_bytes); }

std::string read_word(const char* file) {
  std::ifstream in(file);
  std::string word;
  in >> word;
  return word;
}

}  // namespace

std::size_t page_size() noexcept {
  static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

std::uint64_t memory_status::usable_bytes() const noexcept {
  const std::uint64_t least = std::min(available_bytes, group.available_bytes());
  return least - margin_of(least);
}

memory_status memory_info() {
  memory_status status;
  std::ifstream in("/proc/meminfo");
  std::string name, unit;
  for (std::uint64_t kibibytes = 0; in >> name >> kibibytes;) {
    if (name == "MemTotal:") status.total_bytes = kibibytes << 10;
    if (name == "MemAvailable:") status.available_bytes = kibibytes << 10;
    std::getline(in, unit);
  }
  // An unreadable value does not mean zero.
  if (status.total_bytes == 0)
    throw error(errc::system, "cannot read /proc/meminfo; is /proc mounted? check ulimit -n");
  status.group = read_memory_group();
  return status;
}

void require_memory(std::uint64_t bytes, std::string_view what) { require_memory(bytes, what, memory_info()); }

void require_memory(std::uint64_t bytes, std::string_view what, const memory_status& status) {
  if (bytes <= status.usable_bytes()) return;
  const std::string group =
      status.group.limit_bytes == k_no_limit
          ? std::string("the control group sets no limit")
          : fmt::format("the control group has {} available (limit {}, in use {}; {})",
                        describe_bytes(status.group.available_bytes()), describe_bytes(status.group.limit_bytes),
                        describe_bytes(status.group.current_bytes), status.group.path);
  throw error(errc::out_of_memory,
              fmt::format("{} needs {} of memory on this machine, but the machine has {} available of {}, and {}; ask "
                          "for less, spread it over more machines, or raise the limit",
                          what, describe_bytes(bytes), describe_bytes(status.available_bytes),
                          describe_bytes(status.total_bytes), group));
}

std::string describe_bytes(std::uint64_t bytes) {
  constexpr std::array<const char*, 6> k_units{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  std::size_t unit = 0;
  double value = static_cast<double>(bytes) / 1024;
  while (value >= 1024 && unit + 1 < k_units.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, k_units[unit]);
}

std::uint64_t address_space_limit() noexcept {
  rlimit limit{};
  return ::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ? k_no_limit : limit.rlim_cur;
}

int overcommit_mode() noexcept {
  const int file = ::open("/proc/sys/vm/overcommit_memory", O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  char digit = 0;
  const bool is_read = ::read(file, &digit, 1) == 1;
  ::close(file);
  return is_read ? digit - '0' : -1;
}

std::string describe_address_space_limits() {
  const auto limit_text = [](int resource) {
    rlimit limit{};
    if (::getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) return std::string("unknown");
    return limit.rlim_cur == RLIM_INFINITY ? std::string("unlimited") : describe_bytes(limit.rlim_cur);
  };
  std::string mode = read_word("/proc/sys/vm/overcommit_memory");
  if (mode == "2") mode += " (strict)";
  return fmt::format(
      "limits in force: address space (ulimit -v) {}, data (ulimit -d) {}, vm.overcommit_memory {}, "
      "vm.max_map_count {}; raise the limit that was reached or ask for less",
      limit_text(RLIMIT_AS), limit_text(RLIMIT_DATA), mode.empty() ? "unknown" : mode,
      read_word("/proc/sys/vm/max_map_count"));
}

std::string describe_scarce_shared_memory() {
  constexpr std::uint64_t k_plenty_bytes = std::uint64_t{256} << 20;  // for dozens of a library's segments
  std::string text;
  struct statvfs files {};
  if (::statvfs("/dev/shm", &files) == 0 && files.f_bavail * files.f_frsize < k_plenty_bytes)
    text = fmt::format(
        "/dev/shm has {}, of which {} are free; enlarge it (docker run --shm-size, or mount -o "
        "remount,size=1G /dev/shm)",
        describe_bytes(files.f_blocks * files.f_frsize), describe_bytes(files.f_bavail * files.f_frsize));
  if (address_space_limit() != k_no_limit) text += (text.empty() ? "" : "; ") + describe_address_space_limits();
  return text;
}

}  // namespace shoal::machine
