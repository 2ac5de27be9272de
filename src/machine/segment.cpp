// SPDX-License-Identifier: Apache-2.0
#include "machine/segment.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <shoal/detail/assert.hpp>
#include <shoal/error.hpp>
#include <utility>

#include "machine/descriptor.hpp"
#include "machine/huge_buffer.hpp"
#include "machine/page_choice.hpp"

namespace shoal::machine {
namespace {

constexpr int k_madv_collapse = 25;  // Linux 6.1 for shared memory; the C library's header is older
constexpr int k_collapse_attempts = 4;
constexpr unsigned long k_pool_file_system = 0x958458f6;  // HUGETLBFS_MAGIC

[[noreturn]] void refuse(const std::string& what, int cause, const char* advice) {
  throw error(errc::system, fmt::format("{}: {}; {}", what, std::strerror(cause), advice));
}

std::string explain_collapse(int cause) {
  switch (cause) {
    case 0: return "some 2 MiB pieces were turned back into small pages meanwhile";
    case EINVAL: return "this kernel cannot turn shared memory into 2 MiB pages (Linux 6.1 or later can)";
    case ENOMEM: return "no 2 MiB of contiguous memory left in the machine or the control group";
    default: return fmt::format("the kernel refused 2 MiB pages: {}", std::strerror(cause));
  }
}

// Of memory in a descriptor; 0: it is ordinary memory.
std::size_t pool_page_bytes_of(int descriptor) {
  struct statfs status {};
  if (::fstatfs(descriptor, &status) != 0 || static_cast<unsigned long>(status.f_type) != k_pool_file_system) return 0;
  return static_cast<std::size_t>(status.f_bsize);
}

std::string explain_refusal(std::size_t bytes, std::size_t pool_page_bytes, int cause) {
  if (pool_page_bytes == 0)
    return fmt::format("the system refused {} of shared memory ({}); ask for less or free memory on this machine",
                       describe_bytes(bytes), std::strerror(cause));
  const page_pool pool = read_page_pool(pool_page_bytes);
  return fmt::format(
      "the system refused {} of shared memory on pages of {} ({}), of which {} are reserved and {} free; "
      "ask for less, reserve more, or set pages to huge-try",
      describe_bytes(bytes), describe_bytes(pool_page_bytes), std::strerror(cause), pool.pages, pool.free_pages);
}

}  // namespace

segment segment::create(const std::string& name, std::size_t capacity_bytes, bool inherit,
                        std::size_t pool_page_bytes) {
  const std::size_t capacity = round_up(capacity_bytes, std::max(pool_page_bytes, k_huge_page_bytes));
  if (capacity_bytes == 0 || capacity < capacity_bytes) {
    throw error(errc::invalid_argument, fmt::format("a segment cannot have {} bytes; give it a size", capacity_bytes));
  }
  // A file limit would be answered with a signal, not an error.
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < capacity) {
    throw error(errc::system, fmt::format("a segment of {} is larger than files may be here ({}); raise it with "
                                          "ulimit -f unlimited",
                                          describe_bytes(capacity), describe_bytes(limit.rlim_cur)));
  }
  segment made(open_memory_file(name, inherit, pool_page_bytes), capacity, pool_page_bytes);
  if (made.descriptor_ < 0) {
    const int cause = errno;
    if (pool_page_bytes != 0)
      refuse(fmt::format("cannot create shared memory on pages of {}", describe_bytes(pool_page_bytes)), cause,
             "set pages to huge-try");
    refuse("cannot create shared memory", cause, "check ulimit -n");
  }
  if (::ftruncate(made.descriptor_, static_cast<off_t>(capacity)) != 0) {
    const int cause = errno;
    refuse(fmt::format("cannot give shared memory a size of {}", describe_bytes(capacity)), cause, "ask for less");
  }
  // Nobody can shrink it under our feet: that would be SIGBUS.
  ::fcntl(made.descriptor_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
  return made;
}

segment segment::create_private(std::size_t capacity_bytes) {
  segment made(-1, round_up(capacity_bytes, k_huge_page_bytes), 0);
  made.private_ = true;
  return made;
}

segment segment::adopt(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) {
    const int cause = errno;
    refuse(fmt::format("descriptor {} cannot be adopted as shared memory", descriptor), cause,
           "was it closed before the child started?");
  }
  if (!S_ISREG(status.st_mode) || status.st_size <= 0 ||
      static_cast<std::size_t>(status.st_size) % k_huge_page_bytes != 0) {
    throw error(errc::mismatch,
                fmt::format("descriptor {} is not a segment; are all nodes of the same build?", descriptor));
  }
  ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);  // what this process starts is not another peer
  return {descriptor, static_cast<std::size_t>(status.st_size), pool_page_bytes_of(descriptor)};
}

segment::segment(segment&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      yielded_(other.yielded_),
      has_small_parts_(other.has_small_parts_.load(std::memory_order_relaxed)),
      private_(other.private_),
      capacity_(std::exchange(other.capacity_, 0)),
      pool_page_bytes_(other.pool_page_bytes_),
      mapping_(std::move(other.mapping_)) {}

segment& segment::operator=(segment&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(yielded_, other.yielded_);
  std::swap(private_, other.private_);
  const bool small = has_small_parts_.load(std::memory_order_relaxed);
  has_small_parts_.store(other.has_small_parts_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  other.has_small_parts_.store(small, std::memory_order_relaxed);
  std::swap(capacity_, other.capacity_);
  std::swap(pool_page_bytes_, other.pool_page_bytes_);
  std::swap(mapping_, other.mapping_);
  return *this;
}

segment::~segment() {
  if (yielded_) mapping_.abandon();
  if (descriptor_ >= 0) ::close(descriptor_);
}

void segment::yield_mapping() noexcept {
  yielded_ = true;
  pool_page_bytes_ = 0;
  ::close(std::exchange(descriptor_, -1));
}

std::byte* segment::map(std::size_t bytes) {
  if (data() != nullptr) return data();
  mapping place =
      mapping::reserve(std::min(round_up(bytes, granule()), capacity_), std::max(pool_page_bytes_, k_huge_page_bytes));
  const int kind = private_ ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  if (::mmap(place.data(), place.size(), PROT_READ | PROT_WRITE, kind | MAP_NORESERVE | MAP_FIXED, descriptor_, 0) ==
      MAP_FAILED) {
    const int cause = errno;
    throw error(errc::out_of_memory,
                fmt::format("cannot map {} of shared memory ({}); {}", describe_bytes(place.size()),
                            std::strerror(cause), describe_address_space_limits()));
  }
  mapping_ = std::move(place);
  return data();
}

int segment::allocate(std::size_t offset, std::size_t bytes) const noexcept {
  if (yielded_ || private_) return populate_pages(data() + offset, bytes) ? 0 : errno;
  int rc = 0;
  do {
    rc = ::fallocate(descriptor_, 0, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  } while (rc != 0 && errno == EINTR);
  return rc == 0 ? 0 : errno;
}

int segment::collapse(std::size_t offset, std::size_t bytes) const noexcept {
  int cause = 0;
  for (int attempt = 0; attempt < k_collapse_attempts; ++attempt) {
    if (::madvise(data() + offset, bytes, k_madv_collapse) == 0) return 0;
    cause = errno;
    if (cause != EAGAIN && cause != EINTR) break;
  }
  return cause;
}

segment::extent segment::extent_of(std::size_t offset, std::size_t bytes) const noexcept {
  SHOAL_ASSERT(data() != nullptr, "a segment is mapped before parts of it are committed");
  SHOAL_ASSERT(offset <= mapping_.size() && bytes <= mapping_.size() - offset, "a commit lies in what is mapped");
  const std::size_t begin = round_down(offset, granule());
  const std::size_t end = round_up(offset + bytes, granule());
  const std::size_t whole_begin = round_up(begin, k_huge_page_bytes);
  return {begin, end - begin, whole_begin, std::max(whole_begin, round_down(end, k_huge_page_bytes)) - whole_begin};
}

void segment::require(std::size_t offset, std::size_t bytes) const {
  if (pool_page_bytes_ != 0) return;  // the pool answers, page by page: its pages may be there in part
  const extent e = extent_of(offset, bytes);
  require_memory(e.size - committed_bytes(e.begin, e.size), "an allocation in shared memory");
}

// By accesses, which keep to the advice; fallocate gives large pages where the system makes them of all shared memory.
int segment::take_small(std::size_t offset, std::size_t bytes) noexcept {
  has_small_parts_.store(true, std::memory_order_relaxed);
  ::madvise(data() + offset, bytes, MADV_NOHUGEPAGE);
  return populate_pages(data() + offset, bytes, false) ? 0 : errno;
}

int segment::take_huge(const extent& e, int& refused) noexcept {
  // What has been on small pages before may be on large ones again.
  if (has_small_parts_.load(std::memory_order_relaxed)) ::madvise(data() + e.whole_begin, e.whole, MADV_HUGEPAGE);
  // One small page in each 2 MiB piece is enough for the kernel to build the large one around it, zeroing the rest:
  // over ten times faster than filling the piece first. By fallocate and not by a store: it reports, a store dies.
  for (std::size_t at = e.whole_begin; at < e.whole_begin + e.whole; at += k_huge_page_bytes)
    if (const int cause = allocate(at, page_size()); cause != 0) return cause;
  refused = collapse(e.whole_begin, e.whole);
  return 0;
}

int segment::populate(std::size_t offset, std::size_t bytes, page_kind pages) {
  if (bytes == 0) return 0;
  const extent e = extent_of(offset, bytes);
  int refused = 0;
  int cause = 0;
  if (pool_page_bytes_ == 0 && pages == page_kind::small) {
    cause = take_small(e.begin, e.size);
    if (cause == 0) return 0;
    if (cause == EINVAL) cause = 0;  // an older kernel
  }
  if (pool_page_bytes_ == 0 && pages == page_kind::huge && e.whole != 0) cause = take_huge(e, refused);
  // The ends, and whatever did not become a large page.
  if (cause == 0) cause = allocate(e.begin, e.size);
  if (cause == 0 && !populate_pages(data() + e.begin, e.size)) cause = errno;
  if (cause != 0) throw error(errc::out_of_memory, explain_refusal(e.size, pool_page_bytes_, cause));
  return refused;
}

commit_report segment::describe(std::size_t offset, std::size_t bytes, page_kind pages, int refused) const {
  commit_report report{bytes, 0, page_size(), 0, {}};
  if (bytes == 0) return report;
  const extent e = extent_of(offset, bytes);
  report.whole_bytes = e.whole;
  if (pool_page_bytes_ != 0) {
    report.huge_bytes = bytes;
    report.page_bytes = pool_page_bytes_;
    return report;
  }
  // Counting reads all of smaps, which takes milliseconds: only where there may be large pages.
  if (pages == page_kind::huge && e.whole != 0) report.huge_bytes = count(e.begin, e.size).huge_bytes;
  if (report.huge_bytes * 2 > e.size) report.page_bytes = k_huge_page_bytes;
  if (pages == page_kind::small) {
    report.reason = "small pages were asked for";
  } else if (e.whole == 0) {
    report.reason = "smaller than 2 MiB";
  } else if (report.huge_bytes < e.whole) {
    report.reason = explain_collapse(refused);
  }
  return report;
}

commit_report segment::commit(std::size_t offset, std::size_t bytes, page_kind pages) {
  const extent e = extent_of(offset, bytes);
  const bool fresh = committed_bytes(e.begin, e.size) == 0;
  require(offset, bytes);
  try {
    const int refused = populate(offset, bytes, pages);
    return describe(offset, bytes, pages, refused);
  } catch (const error&) {
    if (fresh) release(e.begin, e.size);
    throw;
  }
}

// Of a page in the pool, whether this process has mapped it: all that it has taken, it has mapped.
bool segment::is_there(std::size_t offset) const noexcept {
  unsigned char there = 0;
  return ::mincore(data() + offset, page_size(), &there) == 0 && there % 2 != 0;
}

// What lies in pages that others use too must read zero when it is taken again.
void segment::clear_ends(std::size_t offset, std::size_t bytes, std::size_t whole_begin,
                         std::size_t whole_end) noexcept {
  const std::size_t end = offset + bytes;
  const auto clear = [this](std::size_t from, std::size_t to) {
    for (std::size_t at = from; at < to; at = round_down(at, granule()) + granule())
      if (is_there(round_down(at, granule())))
        std::memset(data() + at, 0, std::min(to, round_down(at, granule()) + granule()) - at);
  };
  clear(offset, std::min(end, whole_begin));
  clear(std::max({offset, whole_begin, whole_end}), end);
}

int segment::give_back(std::size_t offset, std::size_t bytes) const noexcept {
  if (private_) return ::madvise(data() + offset, bytes, MADV_DONTNEED);
  if (yielded_) return ::madvise(data() + offset, bytes, MADV_REMOVE);
  return ::fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                     static_cast<off_t>(bytes));
}

void segment::release(std::size_t offset, std::size_t bytes) {
  SHOAL_ASSERT(offset <= capacity_ && bytes <= capacity_ - offset, "a release lies within the segment");
  const std::size_t begin = round_up(offset, granule());
  const std::size_t end = round_down(offset + bytes, granule());
  if (pool_page_bytes_ != 0) clear_ends(offset, bytes, begin, end);
  if (end <= begin) return;
  if (give_back(begin, end - begin) != 0) {
    refuse("cannot give shared memory back", errno, "it stays taken until the process ends");
  }
}

page_count segment::count(std::size_t offset, std::size_t bytes) const {
  SHOAL_ASSERT(offset <= mapping_.size() && bytes <= mapping_.size() - offset, "a part of what is mapped");
  if (pool_page_bytes_ != 0) {
    const std::size_t taken = committed_bytes(offset, bytes);
    return {taken, taken};
  }
  const std::size_t begin = round_down(offset, page_size());
  return count_pages(data() + begin, round_up(offset + bytes, page_size()) - begin);
}

// Without smaps, which a process with the memory of many nodes reads for long.
std::size_t segment::resident_bytes(std::size_t offset, std::size_t bytes) const {
  constexpr std::size_t k_pages_at_once = 4096;
  std::array<unsigned char, k_pages_at_once> there;
  const std::size_t end = offset + bytes, page = page_size();
  std::size_t sum = 0;
  for (std::size_t at = round_down(offset, page); at < end; at += k_pages_at_once * page) {
    const std::size_t pages = std::min(k_pages_at_once, (end - at + page - 1) / page);
    if (::mincore(data() + at, pages * page, there.data()) != 0) continue;
    for (std::size_t i = 0; i < pages; ++i)
      if (there[i] % 2 != 0) sum += std::min(end, at + (i + 1) * page) - std::max(offset, at + i * page);
  }
  return sum;
}

std::size_t segment::committed_bytes(std::size_t offset, std::size_t bytes) const {
  if (yielded_) return count(offset, bytes).resident_bytes;
  if (private_) return resident_bytes(offset, bytes);
  if (pool_page_bytes_ != 0) {
    std::size_t sum = 0;
    for (std::size_t at = offset; at < offset + bytes; at = round_down(at, granule()) + granule())
      if (is_there(round_down(at, granule())))
        sum += std::min(offset + bytes, round_down(at, granule()) + granule()) - at;
    return sum;
  }
  const auto end = static_cast<off_t>(offset + bytes);
  std::size_t sum = 0;
  for (auto at = static_cast<off_t>(offset); at < end;) {
    const off_t first = ::lseek(descriptor_, at, SEEK_DATA);
    if (first < 0 || first >= end) break;
    const off_t hole = ::lseek(descriptor_, first, SEEK_HOLE);
    at = hole < 0 ? end : std::min(hole, end);
    sum += static_cast<std::size_t>(at - first);
  }
  return sum;
}

}  // namespace shoal::machine
