// SPDX-License-Identifier: Apache-2.0
#include "machine/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "machine/memory_info.hpp"
#include "shoal/error.hpp"

namespace shoal::machine {
namespace {

const char* advice_for(int cause) noexcept {
  switch (cause) {
    case ENOSPC: return "the disk is full: free some space, or choose another folder";
    case EDQUOT: return "your quota is used up: free some space, or choose another folder";
    case EFBIG: return "the file is larger than the file system or ulimit -f permits";
    case ENOENT: return "check the path; a job on several machines needs a folder that all of them see";
    case EACCES:
    case EPERM:
    case EROFS: return "choose a folder that you may write to, or ask for the right";
    case EIO: return "the disk reports a fault: use another one";
    case EMFILE: return "raise ulimit -n";
    default: return "choose another file or folder";
  }
}

[[noreturn]] void refuse_file(const std::string& path, const char* doing, int cause) {
  throw error(cause == ENOENT ? errc::not_found : errc::system,
              fmt::format("{}: cannot {} it: {}; {}", path, doing, std::strerror(cause), advice_for(cause)));
}

int flags_of(file::purpose what_for) noexcept {
  switch (what_for) {
    case file::purpose::read: return O_RDONLY | O_CLOEXEC;
    case file::purpose::write: return O_WRONLY | O_CLOEXEC;
    case file::purpose::make: return O_WRONLY | O_CREAT | O_CLOEXEC;
    default: return O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
  }
}

int open_any(const char* path, int flags) noexcept {
  int number = 0;
  do {
    number = ::open(path, flags, 0666);
  } while (number < 0 && errno == EINTR);
  return above_standard(number);
}

}  // namespace

file::file(std::string path, purpose what_for)
    : path_(std::move(path)), open_(open_any(path_.c_str(), flags_of(what_for))) {
  const bool makes = what_for == purpose::make || what_for == purpose::replace;
  const char* const doing = makes ? "make or open" : "open";
  if (!open_.open()) refuse(doing, errno);
  struct stat status {};
  if (::fstat(open_.number(), &status) == 0 && S_ISDIR(status.st_mode)) refuse(doing, EISDIR);
}

void file::refuse(const char* doing, int cause) const { refuse_file(path_, doing, cause); }

std::uint64_t file::size_bytes() const {
  struct stat status {};
  if (::fstat(open_.number(), &status) != 0) refuse("look at", errno);
  return static_cast<std::uint64_t>(status.st_size);
}

void file::resize(std::uint64_t bytes) {
  // Beyond a file limit the kernel sends a signal, which ends the process.
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < bytes)
    refuse("write", EFBIG);
  const auto size = static_cast<off_t>(bytes);
  if (::ftruncate(open_.number(), size) != 0) refuse("give a size to", errno);
  if (bytes == 0) return;
  int rc = 0;
  do {
    rc = ::fallocate(open_.number(), 0, 0, size);
  } while (rc != 0 && errno == EINTR);
  if (rc != 0 && errno != EOPNOTSUPP && errno != ENOSYS) refuse("write", errno);
}

std::size_t file::read_at(std::span<std::byte> to, std::uint64_t offset) const {
  std::size_t done = 0;
  while (done < to.size()) {
    const ssize_t got = ::pread(open_.number(), to.data() + done, to.size() - done, static_cast<off_t>(offset + done));
    if (got == 0) break;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse("read", errno);
    done += static_cast<std::size_t>(got);
  }
  return done;
}

void file::write_at(std::span<const std::byte> from, std::uint64_t offset) {
  std::size_t done = 0;
  while (done < from.size()) {
    const ssize_t got =
        ::pwrite(open_.number(), from.data() + done, from.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) refuse("write", got < 0 ? errno : EIO);
    done += static_cast<std::size_t>(got);
  }
}

void file::begin_writing(std::uint64_t offset, std::uint64_t bytes) noexcept {
  static_cast<void>(
      ::sync_file_range(open_.number(), static_cast<off_t>(offset), static_cast<off_t>(bytes), SYNC_FILE_RANGE_WRITE));
}

void file::sync() {
  int rc = 0;
  do {
    rc = ::fdatasync(open_.number());
  } while (rc != 0 && errno == EINTR);
  if (rc != 0) refuse("write", errno);
}

bool file::try_lock() {
  if (::flock(open_.number(), LOCK_EX | LOCK_NB) == 0) return true;
  if (errno == EWOULDBLOCK) return false;
  if (errno == ENOLCK || errno == EOPNOTSUPP) return true;  // the file system has no locks
  refuse("lock", errno);
}

bool file::is_named() const noexcept {
  struct stat mine {
  }, named{};
  return ::fstat(open_.number(), &mine) == 0 && ::stat(path_.c_str(), &named) == 0 && mine.st_dev == named.st_dev &&
         mine.st_ino == named.st_ino;
}

void file::close() {
  // After a signal Linux has closed it, too.
  if (open_.open() && ::close(open_.release()) != 0 && errno != EINTR) refuse("write", errno);
}

void rename_file(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) refuse_file(to, "replace", errno);
}

bool remove_file(const std::string& path) {
  if (::unlink(path.c_str()) == 0) return true;
  if (errno != ENOENT) refuse_file(path, "remove", errno);
  return false;
}

void sync_folder(const std::string& path) {
  const descriptor folder(open_any(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.open()) refuse_file(path, "open", errno);
  if (::fsync(folder.number()) != 0 && errno != EINVAL) refuse_file(path, "write", errno);
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder;
}

void make_folder(const std::string& path) {
  std::error_code failure;
  std::filesystem::create_directories(path, failure);
  if (failure || !std::filesystem::is_directory(path)) refuse_file(path, "make", failure ? failure.value() : ENOTDIR);
}

std::vector<std::string> names_in(const std::string& path) {
  std::vector<std::string> names;
  std::error_code failure;
  for (std::filesystem::directory_iterator at(path, failure), end; !failure && at != end; at.increment(failure))
    names.push_back(at->path().filename());
  if (failure && failure.value() != ENOENT) refuse_file(path, "read", failure.value());
  return names;
}

bool remove_folder(const std::string& path) {
  std::error_code failure;
  const auto removed = std::filesystem::remove_all(path, failure);
  if (failure) refuse_file(path, "remove", failure.value());
  return removed != 0;
}

std::string absolute_path(const std::string& path) {
  std::error_code failure;
  const std::filesystem::path result = std::filesystem::absolute(path, failure);
  if (failure) refuse_file(path, "find", failure.value());
  return result;
}

}  // namespace shoal::machine
