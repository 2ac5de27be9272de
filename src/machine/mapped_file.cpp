// SPDX-License-Identifier: Apache-2.0
#include "machine/mapped_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "machine/descriptor.hpp"
#include "shoal/error.hpp"

namespace shoal::machine {
namespace {

[[noreturn]] void refuse(const std::string& what, const std::string& path, int cause) {
  throw error(cause == ENOENT ? errc::not_found : errc::system,
              fmt::format("cannot {} {}: {}; choose a file in a writable folder with room", what, path,
                          std::generic_category().message(cause)));
}

// Asks first: a reservation that fails may take the room of others for a moment.
int reserve(int file, std::size_t bytes) {
  struct statvfs system {};
  if (::fstatvfs(file, &system) == 0 && system.f_blocks != 0 && bytes / system.f_frsize > system.f_bfree) return ENOSPC;
  int failed = 0;
  do {
    failed = ::posix_fallocate(file, 0, static_cast<off_t>(bytes));
  } while (failed == EINTR);
  return failed;
}

}  // namespace

mapped_file mapped_file::make(const std::string& path, std::size_t bytes) {
  const descriptor file(above_standard(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)));
  if (!file.open()) refuse("make", path, errno);
  if (const int failed = reserve(file.number(), bytes); failed != 0) {
    ::unlink(path.c_str());
    refuse(fmt::format("reserve {} MiB for", (bytes >> 20) + 1), path, failed);
  }
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0);
  if (memory == MAP_FAILED) refuse("map", path, errno);
  return {static_cast<std::byte*>(memory), bytes};
}

mapped_file mapped_file::read(const std::string& path) {
  const descriptor file(above_standard(::open(path.c_str(), O_RDONLY | O_CLOEXEC)));
  struct stat status {};
  if (!file.open() || ::fstat(file.number(), &status) != 0) refuse("read", path, errno);
  if (status.st_size == 0) return {};
  const auto bytes = static_cast<std::size_t>(status.st_size);
  void* const memory = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (memory == MAP_FAILED) refuse("map", path, errno);
  return {static_cast<std::byte*>(memory), bytes};
}

mapped_file::mapped_file(mapped_file&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

mapped_file& mapped_file::operator=(mapped_file&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

mapped_file::~mapped_file() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

}  // namespace shoal::machine
