// SPDX-License-Identifier: Apache-2.0
#include "machine/huge_buffer.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

#include <atomic>
#include <cerrno>
#include <cstring>
#include <shoal/error.hpp>

namespace shoal::machine {
namespace {

constexpr int k_madv_populate_write = 23;  // Linux 5.14; some C libraries do not name it

[[noreturn]] void refuse(std::size_t bytes, int cause) {
  throw error(errc::out_of_memory,
              fmt::format("the system refused {} of memory for a buffer ({}); {}", describe_bytes(bytes),
                          std::strerror(cause), describe_address_space_limits()));
}

}  // namespace

huge_buffer::huge_buffer(std::size_t bytes, page_kind pages) {
  if (bytes == 0) return;
  require_memory(bytes, "a buffer");
  *this = unpopulated(bytes, pages);
  if (!populate_pages(data(), size())) refuse(size(), errno);
}

huge_buffer huge_buffer::unpopulated(std::size_t bytes, page_kind pages) {
  huge_buffer made;
  const bool huge = pages == page_kind::huge;
  made.mapping_ = mapping::reserve(round_up(bytes, huge ? k_huge_page_bytes : page_size()));
  ::madvise(made.data(), made.size(), huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  if (::mprotect(made.data(), made.size(), PROT_READ | PROT_WRITE) != 0) refuse(made.size(), errno);
#if defined(__SANITIZE_ADDRESS__)
  // Stacks of a pool that has ended may have lain here; the red zones of their frames are still marked.
  __asan_unpoison_memory_region(made.data(), made.size());
#endif
  return made;
}

huge_buffer huge_buffer::of_pool(std::size_t bytes, std::size_t page_bytes) {
  huge_buffer made;
  made.mapping_ = mapping::reserve_pool(round_up(bytes, page_bytes), page_bytes);
  if (!populate_pages(made.data(), made.size())) refuse(made.size(), errno);
  return made;
}

bool populate_pages(void* address, std::size_t bytes, bool touch) noexcept {
  int rc = 0;
  do {
    rc = ::madvise(address, bytes, k_madv_populate_write);
  } while (rc != 0 && (errno == EINTR || errno == EAGAIN));
  if (rc == 0) return true;
  if (errno != EINVAL || !touch) return false;
  // An older kernel: touch every page. The write must not lose what another thread or process writes meanwhile.
  auto* const first = static_cast<std::byte*>(address);
  for (std::size_t at = 0; at < bytes; at += page_size()) {
    std::atomic_ref<unsigned char>(*reinterpret_cast<unsigned char*>(first + at))
        .fetch_or(0, std::memory_order_relaxed);
  }
  return true;
}

}  // namespace shoal::machine
