// SPDX-License-Identifier: Apache-2.0
#include "machine/reserved_range.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <shoal/detail/assert.hpp>
#include <shoal/error.hpp>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace shoal::machine {
namespace {

// The C library's header is older than this.
constexpr int k_madv_guard_install = 102;
constexpr int k_madv_that_no_system_has = 0x7fff0000;

}  // namespace

reserved_range::reserved_range(std::size_t bytes, std::size_t alignment, page_kind pages)
    : mapping_(mapping::reserve(bytes, alignment)) {
  // Refused only by kernels that have no huge pages, where the advice is moot.
  ::madvise(data(), size(), pages == page_kind::huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

reserved_range reserved_range::of_pool(std::size_t bytes, std::size_t page_bytes) {
  reserved_range made;
  made.mapping_ = mapping::reserve_pool(bytes, page_bytes);
  made.of_pool_ = true;
#if defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(made.data(), made.size());
#endif
  return made;
}

void reserved_range::commit(std::size_t offset, std::size_t bytes) {
  SHOAL_ASSERT(offset <= size() && bytes <= size() - offset, "a commit lies within the reserved range");
  SHOAL_ASSERT(offset % page_size() == 0 && bytes % page_size() == 0, "a commit consists of whole pages");
  if (bytes == 0 || of_pool_) return;
#if defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(data() + offset, bytes);  // stacks with red zones may have lain here before
#endif
  if (::mprotect(data() + offset, bytes, PROT_READ | PROT_WRITE) == 0) return;
  const int cause = errno;
  throw error(errc::out_of_memory, fmt::format("the system refused {} of memory ({}); {}", describe_bytes(bytes),
                                               std::strerror(cause), describe_address_space_limits()));
}

void reserved_range::discard(std::size_t offset, std::size_t bytes) noexcept {
  SHOAL_ASSERT(offset <= size() && bytes <= size() - offset, "a discard lies within the reserved range");
  if (!of_pool_) machine::discard(data() + offset, bytes);
}

void discard(void* address, std::size_t bytes) noexcept {
  if (bytes != 0) ::madvise(address, bytes, MADV_DONTNEED);
}

bool follows_advice() noexcept {
  static const bool follows = [] {
    const int saved_errno = errno;
    const bool refused = ::madvise(nullptr, 0, k_madv_that_no_system_has) != 0;
    errno = saved_errno;
    return refused;
  }();
  return follows;
}

bool guard_install(void* address, std::size_t bytes) noexcept {
  return follows_advice() && ::madvise(address, bytes, k_madv_guard_install) == 0;
}

bool forbid_access(void* address, std::size_t bytes) noexcept { return ::mprotect(address, bytes, PROT_NONE) == 0; }

}  // namespace shoal::machine
