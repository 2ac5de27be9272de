// SPDX-License-Identifier: Apache-2.0
// The pages that memory is to be on: the one choice of the settings `pages` and `stack_pages`, what this machine has of
// each kind, and what is done about a choice: huge-try falls back to ordinary pages and says why; 2m and 1g are demands,
// and where the machine cannot meet one the error says what to do.
// Transparent pages are made by the kernel of ordinary memory; pool pages are those that root has reserved (hugetlb):
// memory on them is mapped as such from the start, and Shoal never asks the system to reserve more.
// Who may call: any thread, at set-up; reads files of /sys. Never switches tasks.
// Shown by tests/unit/machine/page_choice_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "machine/memory_info.hpp"

namespace shoal::machine {

inline constexpr std::size_t k_giant_page_bytes = std::size_t{1} << 30;

enum class page_choice : std::uint8_t {
  small,     // "4k": the machine's ordinary pages, also where the system would give larger ones by itself
  huge,      // "2m": 2 MiB, or an error
  giant,     // "1g": 1 GiB of the pool, or an error
  huge_try,  // "huge-try": 2 MiB as far as the system gives them, else ordinary pages
};

/// For tables of settings, in the order of the enumeration.
inline constexpr std::string_view k_page_choices = "4k|2m|1g|huge-try";

/// Throws errc::invalid_argument for another word.
page_choice page_choice_of(std::string_view word);
std::string_view to_string(page_choice choice) noexcept;

/// Pages of one size that root has reserved.
struct page_pool {
  std::uint64_t pages = 0;
  std::uint64_t free_pages = 0;  // and not promised to another mapping
};
/// `folder`: another than the system's, for tests.
page_pool read_page_pool(std::size_t page_bytes, const std::string& folder = "/sys/kernel/mm/hugepages");

struct page_facts {
  std::string why_not_transparent;  // why the kernel makes no 2 MiB pages of this kind of memory; empty if it does
  page_pool huge;                   // of 2 MiB
  page_pool giant;                  // of 1 GiB
};
/// Of memory that processes share (segment). Tries it: some microseconds.
page_facts shared_page_facts();
/// Of a process's own memory: stacks, buffers.
page_facts private_page_facts();

struct page_plan {
  page_kind pages = page_kind::small;  // that the kernel is asked to make of ordinary memory
  std::size_t pool_page_bytes = 0;     // not 0: the memory is mapped from the pool of pages of this size
  std::string reason;                  // why huge-try falls back; else empty

  bool large() const noexcept { return pages == page_kind::huge || pool_page_bytes != 0; }
};
/// `what` begins the message of an error: "global memory (setting pages)". Throws errc::unsupported.
page_plan plan_pages(page_choice choice, const page_facts& facts, std::string_view what);

/// "4.0 KiB pages", "2 MiB pages made by the kernel", "1 GiB pages of the pool".
std::string describe(const page_plan& plan);

}  // namespace shoal::machine
