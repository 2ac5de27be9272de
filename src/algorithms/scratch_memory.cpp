// SPDX-License-Identifier: Apache-2.0
#include "shoal/detail/scratch_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "machine/huge_buffer.hpp"
#include "shoal/error.hpp"
#include "shoal/loop.hpp"

namespace shoal::detail {
namespace {

constexpr std::size_t k_least_pages_bytes = std::size_t{2} << 20;  // less comes from the heap
constexpr std::size_t k_piece_bytes = std::size_t{8} << 20;

[[noreturn]] void refuse(std::size_t bytes, std::string_view what) {
  throw error(errc::out_of_memory,
              fmt::format("{}: the system refused {} of memory; {}", what, machine::describe_bytes(bytes),
                          machine::describe_address_space_limits()));
}

}  // namespace

struct scratch_memory::pages {
  struct freed {
    void operator()(std::byte* memory) const noexcept { std::free(memory); }
  };

  machine::huge_buffer large;
  std::unique_ptr<std::byte, freed> small;
};

void throw_no_memory(std::string_view what) {
  throw error(errc::out_of_memory,
              fmt::format("{}: the system refused memory; {}", what, machine::describe_address_space_limits()));
}

scratch_memory::scratch_memory(std::size_t bytes, std::string_view what)
    : pages_(with_memory(what, [] { return std::make_unique<pages>(); })) {
  if (bytes == 0) return;
  if (bytes < k_least_pages_bytes) {
    const std::size_t whole = bytes_for<std::byte>(bytes);
    pages_->small.reset(static_cast<std::byte*>(std::aligned_alloc(64, whole)));
    data_ = pages_->small.get();
    if (data_ == nullptr) refuse(whole, what);
    return;
  }
  machine::require_memory(bytes, what);
  pages_->large = machine::huge_buffer::unpopulated(bytes);
  data_ = pages_->large.data();
  const std::size_t whole = pages_->large.size();
  // Partner: the load below; the loop's end orders them.
  std::atomic<bool> failed{false};
  parallel_for((whole + k_piece_bytes - 1) / k_piece_bytes,
               [this, whole, &failed](std::size_t piece) {
                 const std::size_t begin = piece * k_piece_bytes;
                 if (!machine::populate_pages(data_ + begin, std::min(k_piece_bytes, whole - begin)))
                   failed.store(true, std::memory_order_relaxed);
               },
               simple_partitioner{1});
  if (failed.load(std::memory_order_relaxed)) refuse(whole, what);
}

scratch_memory::scratch_memory(scratch_memory&&) noexcept = default;
scratch_memory::~scratch_memory() = default;

}  // namespace shoal::detail
