// SPDX-License-Identifier: Apache-2.0
#include "array/memory_ledger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "array/memory_text.hpp"
#include "array/node_memory.hpp"
#include "base/counted.hpp"
#include "machine/memory_info.hpp"
#include "shoal/detail/port.hpp"

namespace shoal::array {

void memory_ledger::enter(const detail::array_layout& layout, const detail::allocation_label& label,
                          const taken& memory) {
  {
    const std::lock_guard hold(lock_);
    arrays_[layout.slot] = {label, memory, layout.size, layout.element_bytes};
  }
  of_arrays_.take(memory.bytes);
}

void memory_ledger::remove(const detail::array_layout& layout) noexcept {
  const std::lock_guard hold(lock_);
  const auto found = arrays_.find(layout.slot);
  if (found == arrays_.end()) return;
  of_arrays_.give_back(found->second.memory.bytes);
  arrays_.erase(found);
}

detail::memory_meter_entry& memory_ledger::add_meter(detail::container_kind what,
                                                     const detail::allocation_label& label) {
  const std::lock_guard hold(lock_);
  return meters_.emplace_back(*this, what, label);
}

void memory_ledger::remove_meter(detail::memory_meter_entry& e) noexcept {
  e.give_back(e.holder().memory.bytes);  // what ends with its container
  const std::lock_guard hold(lock_);
  meters_.remove_if([&e](const detail::memory_meter_entry& other) { return &other == &e; });
}

void memory_ledger::report(memory_usage& to) const {
  std::vector<memory_holder> all;
  {
    const std::lock_guard hold(lock_);
    for (const auto& [slot, a] : arrays_) {
      const memory_amount held{a.memory.bytes, a.memory.bytes};
      to.array_huge_bytes += a.memory.huge_bytes;
      all.push_back(
          {fmt::format("array of {} of {}", base::counted(a.size, "element"), base::counted(a.element_bytes, "byte")),
           std::string(a.label.name()), std::string(a.label.place()), 1, held});
    }
    for (const auto& m : meters_) all.push_back(m.holder());
    to.array_count += arrays_.size();
  }
  add(to.arrays, of_arrays_.amount());
  add(to.tables, of_meters_.amount());
  add(to.copies, copies_.amount());
  merge_holders(to.holders, std::move(all));
}

std::string memory_ledger::text(std::uint32_t node) const {
  constexpr std::size_t k_most_named = 3;
  memory_usage use;
  report(use);
  std::string said = fmt::format("node {} holds {} global array{} of {} ({} at most so far)", node, use.array_count,
                                 use.array_count == 1 ? "" : "s", machine::describe_bytes(use.arrays.bytes),
                                 machine::describe_bytes(use.arrays.most_bytes));
  if (use.tables.bytes != 0) said += fmt::format(", tables of {}", machine::describe_bytes(use.tables.bytes));
  if (use.copies.bytes != 0)
    said += fmt::format(", copies for checkpoints of {}", machine::describe_bytes(use.copies.bytes));
  for (std::size_t i = 0; i < std::min(use.holders.size(), k_most_named); ++i)
    said += fmt::format("{} {}: {}", i == 0 ? "; the largest:" : ",", describe(use.holders[i]),
                        machine::describe_bytes(use.holders[i].memory.bytes));
  return said;
}

}  // namespace shoal::array

namespace shoal::detail {

allocation_label::allocation_label(std::string_view name, code_place where) noexcept : allocation_label() {
  name_bytes_ = static_cast<std::uint8_t>(std::min(name.size(), k_name_bytes));
  if (name_bytes_ != 0) std::memcpy(text_, name.data(), name_bytes_);
  std::string_view path(where.file());
  if (path.empty()) return;
  if (const auto last = path.rfind('/'); last != std::string_view::npos && last != 0)
    if (const auto before = path.rfind('/', last - 1); before != std::string_view::npos) path.remove_prefix(before + 1);
  char line[16];
  const auto number = static_cast<std::size_t>(fmt::format_to_n(line, sizeof line, ":{}", where.line()).size);
  path.remove_prefix(path.size() - std::min(path.size(), k_place_bytes - number));
  std::memcpy(text_ + k_name_bytes, path.data(), path.size());
  std::memcpy(text_ + k_name_bytes + path.size(), line, number);
  place_bytes_ = static_cast<std::uint8_t>(path.size() + number);
}

memory_holder memory_meter_entry::holder() const {
  constexpr const char* k_names[] = {"global_map",    "global_set",   "global_multimap",
                                     "global_vector", "global_queue", "global_counter"};
  return {k_names[static_cast<unsigned>(what_)], std::string(label_.name()), std::string(label_.place()), 1,
          memory_.amount()};
}

memory_meter::memory_meter(container_kind what, const allocation_label& label)
    : entry_(&port_here().context->memory->ledger().add_meter(what, label)) {}
memory_meter::~memory_meter() { entry_->ledger().remove_meter(*entry_); }
void memory_meter::take(std::uint64_t bytes) noexcept { entry_->take(bytes); }
void memory_meter::give_back(std::uint64_t bytes) noexcept { entry_->give_back(bytes); }

}  // namespace shoal::detail
