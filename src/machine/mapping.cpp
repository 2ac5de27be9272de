// SPDX-License-Identifier: Apache-2.0
#include "machine/mapping.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <bit>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <shoal/error.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "machine/page_choice.hpp"

namespace shoal::machine {
namespace {

std::byte* map_nothing(std::size_t bytes) noexcept {
  void* const address = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return address == MAP_FAILED ? nullptr : static_cast<std::byte*>(address);
}

// "55d0c000-55d0f000 rw-p ..." begins a mapping in smaps; other lines begin with a name.
bool read_bounds(std::string_view line, std::uintptr_t& begin, std::uintptr_t& end) {
  const char* const last = line.data() + line.size();
  const auto first = std::from_chars(line.data(), last, begin, 16);
  if (first.ec != std::errc{} || first.ptr == last || *first.ptr != '-') return false;
  const auto second = std::from_chars(first.ptr + 1, last, end, 16);
  return second.ec == std::errc{} && second.ptr != last && *second.ptr == ' ';
}

bool read_field(std::string_view line, std::string_view name, std::size_t& sum_bytes) {
  if (line.substr(0, name.size()) != name) return false;
  line.remove_prefix(name.size());
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  std::size_t kibibytes = 0;
  std::from_chars(line.data(), line.data() + line.size(), kibibytes);
  sum_bytes += kibibytes << 10;
  return true;
}

}  // namespace

mapping mapping::reserve(std::size_t bytes, std::size_t alignment) {
  const std::size_t size = round_up(bytes, page_size());
  const std::size_t slack = alignment > page_size() ? alignment : 0;
  std::byte* const first = size == 0 || size + slack < bytes ? nullptr : map_nothing(size + slack);
  if (first == nullptr) {
    const int cause = size == 0 || size + slack < bytes ? EINVAL : errno;
    throw error(errc::out_of_memory,
                fmt::format("the system refused to reserve {} of address space ({}); {}", describe_bytes(bytes),
                            std::strerror(cause), describe_address_space_limits()));
  }
  if (slack == 0) return {first, size};
  const auto start = reinterpret_cast<std::uintptr_t>(first);
  const std::size_t skipped = round_up(start, alignment) - start;
  if (skipped != 0) ::munmap(first, skipped);
  if (slack != skipped) ::munmap(first + skipped + size, slack - skipped);
  return {first + skipped, size};
}

mapping mapping::reserve_pool(std::size_t bytes, std::size_t page_bytes) {
  constexpr int k_map_huge_shift = 26;
  const int kind = MAP_HUGETLB | std::countr_zero(page_bytes) << k_map_huge_shift;
  // Such mappings begin at a multiple of their pages.
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | kind, -1, 0);
  if (at == MAP_FAILED) {
    const int cause = errno;
    const page_pool pool = read_page_pool(page_bytes);
    throw error(errc::out_of_memory,
                fmt::format("the system refused {} on pages of {} ({}), of which {} are reserved and {} free; ask for "
                            "less or reserve more",
                            describe_bytes(bytes), describe_bytes(page_bytes), std::strerror(cause), pool.pages,
                            pool.free_pages));
  }
  return {static_cast<std::byte*>(at), bytes};
}

mapping::mapping(mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

mapping& mapping::operator=(mapping&& other) noexcept {
  mapping old(std::move(*this));
  data_ = std::exchange(other.data_, nullptr);
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

mapping::~mapping() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

page_count count_pages(const void* address, std::size_t bytes) {
  // smaps counts whole mappings. A read-ahead hint, which means nothing to memory without a file on disk, makes the
  // range a mapping of its own for as long as we look.
  void* const begin_address = const_cast<void*>(address);
  const bool split = ::madvise(begin_address, bytes, MADV_RANDOM) == 0;
  const auto from = reinterpret_cast<std::uintptr_t>(address);
  const std::uintptr_t to = from + bytes;
  page_count count;
  std::size_t of_pool = 0;  // which is not in Rss
  std::ifstream in("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    if (read_bounds(line, begin, end)) {
      inside = split ? begin >= from && end <= to : begin < to && end > from;
    } else if (inside) {
      read_field(line, "Rss:", count.resident_bytes) || read_field(line, "AnonHugePages:", count.huge_bytes) ||
          read_field(line, "ShmemPmdMapped:", count.huge_bytes) ||
          read_field(line, "FilePmdMapped:", count.huge_bytes) || read_field(line, "Shared_Hugetlb:", of_pool) ||
          read_field(line, "Private_Hugetlb:", of_pool);
    }
  }
  if (split) ::madvise(begin_address, bytes, MADV_NORMAL);
  count.resident_bytes = std::min(count.resident_bytes + of_pool, bytes);
  count.huge_bytes = std::min(count.huge_bytes + of_pool, bytes);
  return count;
}

}  // namespace shoal::machine
