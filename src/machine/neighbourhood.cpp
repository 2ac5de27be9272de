// SPDX-License-Identifier: Apache-2.0
#include "machine/neighbourhood.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "machine/descriptor.hpp"
#include "shoal/error.hpp"

namespace shoal::machine {
namespace {

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The identity of a namespace within its machine.
std::string number_of(const char* path) {
  struct stat status {};
  return ::stat(path, &status) == 0 ? std::to_string(status.st_ino) : std::string("?");
}

}  // namespace

std::string neighbourhood() {
  return fmt::format("{} pid:{} net:{} uid:{}", first_line("/proc/sys/kernel/random/boot_id"),
                     number_of("/proc/self/ns/pid"), number_of("/proc/self/ns/net"), ::geteuid());
}

std::optional<segment> segment_of(int pid, int descriptor, std::string& why) {
  const std::string path = fmt::format("/proc/{}/fd/{}", pid, descriptor);
  const int opened = above_standard(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (opened < 0) {
    why = fmt::format("{}: {}", path, std::strerror(errno));
    return std::nullopt;
  }
  try {
    return segment::adopt(opened);
  } catch (const error& e) {
    ::close(opened);
    why = e.what();
    return std::nullopt;
  }
}

}  // namespace shoal::machine
