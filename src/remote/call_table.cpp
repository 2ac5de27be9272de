// SPDX-License-Identifier: Apache-2.0
#include "remote/call_table.hpp"

#include <fmt/format.h>

#include <bit>
#include <utility>

#include "shoal/error.hpp"

namespace shoal::remote {

call_table::slot* call_table::find(std::uint64_t place) noexcept {
  const auto block = static_cast<unsigned>(std::bit_width(place / k_first_block + 1) - 1);
  if (block >= k_blocks) return nullptr;
  slot* const first = blocks_[block].load(std::memory_order_acquire);
  return first == nullptr ? nullptr : first + (place - k_first_block * ((std::uint64_t{1} << block) - 1));
}

void call_table::grow() {
  const std::uint64_t first_place = k_first_block * ((std::uint64_t{1} << blocks_made_) - 1);
  const std::uint64_t count = k_first_block << blocks_made_;
  if (first_place + count > k_most_calls)
    throw error(errc::exhausted, fmt::format("{} calls of a worker have no answer yet; wait for some before more are "
                                             "begun",
                                             first_place));
  owned_.reserve(owned_.size() + 1);
  auto made = std::make_unique<slot[]>(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    made[i].next_name = k_next_use | (first_place + i) << k_worker_bits | worker_;
    made[i].next.write(i + 1 < count ? &made[i + 1] : nullptr);
  }
  free_ = made.get();
  blocks_[blocks_made_++].store(made.get(), std::memory_order_release);
  owned_.push_back(std::move(made));
}

std::uint64_t call_table::add(const pending_call& c) {
  if (free_ == nullptr) free_ = static_cast<slot*>(returned_.take_all());
  if (free_ == nullptr) grow();
  slot& s = *free_;
  free_ = static_cast<slot*>(s.next.read());
  s.call = c;
  const std::uint64_t name = s.next_name;
  s.next_name += k_next_use;
  s.name.store(name, std::memory_order_release);
  return name;
}

std::optional<pending_call> call_table::take(std::uint64_t name, std::uint32_t from) noexcept {
  slot* const s = find(name >> k_worker_bits & ((std::uint64_t{1} << k_place_bits) - 1));
  std::uint64_t expected = name;
  if (s == nullptr || name < k_next_use) return std::nullopt;
  if (!s->name.compare_exchange_strong(expected, 0, std::memory_order_acquire, std::memory_order_relaxed))
    return std::nullopt;
  const pending_call c = s->call;
  if (c.node != from) return std::nullopt;  // its place is lost, since the caller ends the program
  returned_.push(s);
  return c;
}

node_calls::node_calls(unsigned workers) {
  for (unsigned w = 0; w < workers; ++w) tables_.push_back(std::make_unique<call_table>(w));
}

std::optional<pending_call> node_calls::take(std::uint64_t name, std::uint32_t from) noexcept {
  const unsigned worker = call_table::worker_of(name);
  return worker < tables_.size() ? tables_[worker]->take(name, from) : std::nullopt;
}

}  // namespace shoal::remote
