// SPDX-License-Identifier: Apache-2.0
#include "machine/function_starts.hpp"

#include <link.h>

#include <algorithm>
#include <cstring>

namespace shoal::machine {
namespace {

// The form that all linkers write: version 1; the address of .eh_frame, relative to the place; the number of entries;
// the entries, relative to the table.
struct table_head {
  unsigned char version;
  unsigned char frame_form;
  unsigned char count_form;
  unsigned char entry_form;
  std::int32_t frame;
  std::uint32_t count;
};
constexpr unsigned char k_four_bytes = 0x03;             // DW_EH_PE_udata4
constexpr unsigned char k_four_bytes_from_table = 0x3b;  // DW_EH_PE_datarel | DW_EH_PE_sdata4

struct search {
  const image& of;
  std::uintptr_t table = 0;
  std::size_t bytes = 0;
};

int find_table(dl_phdr_info* info, std::size_t, void* data) {
  search& s = *static_cast<search*>(data);
  for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    const std::uintptr_t at = info->dlpi_addr + part.p_vaddr;
    if (part.p_type != PT_GNU_EH_FRAME || !s.of.contains(reinterpret_cast<const void*>(at))) continue;
    s.table = at;
    s.bytes = part.p_memsz;
    return 1;
  }
  return 0;
}

}  // namespace

function_starts::function_starts(const image& of) {
  search found{of};
  ::dl_iterate_phdr(find_table, &found);
  table_head head{};
  if (found.bytes < sizeof head) return;
  std::memcpy(&head, reinterpret_cast<const void*>(found.table), sizeof head);
  if (head.version != 1 || head.count_form != k_four_bytes || head.entry_form != k_four_bytes_from_table) return;
  if (head.count > (found.bytes - sizeof head) / sizeof(entry)) return;
  base_ = found.table;
  entries_ = {reinterpret_cast<const entry*>(found.table + sizeof head), head.count};
}

bool function_starts::contains(std::uintptr_t address) const noexcept {
  const auto offset = static_cast<std::int64_t>(address - base_);
  const auto at = std::ranges::lower_bound(entries_, offset, {}, [](const entry& e) { return std::int64_t{e.start}; });
  return at != entries_.end() && at->start == offset;
}

}  // namespace shoal::machine
