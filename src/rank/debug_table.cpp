// SPDX-License-Identifier: Apache-2.0
#include "rank/debug_table.hpp"

#include "fiber/fiber.hpp"
#include "machine/thread_id.hpp"

std::uint64_t shoal_debug_ranks[16];  // zeros: there are no ranks

namespace shoal::rank {
namespace {

std::uint64_t word(const void* at) noexcept { return reinterpret_cast<std::uintptr_t>(at); }

template <class Object, class Member>
std::uint64_t offset(const Object& in, const Member& of) noexcept {
  return word(&of) - word(&in);
}

}  // namespace

debug_table::debug_table(const job_ranks& of, std::size_t stack_bytes)
    : ranks_(std::make_unique<debugged_rank[]>(static_cast<std::size_t>(of.size_here()))) {
  for (int i = 0; i < of.size_here(); ++i) ranks_[static_cast<std::size_t>(i)].world = of.at(i).world;
  const fiber::fiber f{};
  const wait_note n(nullptr, 0, nullptr, 0, 0, wait_note::kind::send, nullptr);
  const std::uint64_t words[16] = {2,
                                   static_cast<std::uint64_t>(of.size_here()),
                                   word(ranks_.get()),
                                   sizeof(debugged_rank),
                                   stack_bytes,
                                   fiber::k_saved_registers,
                                   offset(f, f.context),
                                   offset(f, f.waits_as),
                                   offset(f, f.wait),
                                   static_cast<std::uint64_t>(detail::wait_kind::message),
                                   offset(n, n.function),
                                   offset(n, n.peer),
                                   offset(n, n.tag),
                                   offset(n, n.what),
                                   offset(n, n.missing),
                                   0};
  for (std::size_t i = 0; i < 16; ++i) shoal_debug_ranks[i] = words[i];
}

debug_table::~debug_table() {
  for (std::uint64_t& w : shoal_debug_ranks) w = 0;
}

void debug_table::begin(const rank_state& r, const void* frame) noexcept {
  debugged_rank& mine = ranks_[static_cast<std::size_t>(r.local)];
  mine.fiber = r.home.current();
  mine.stack_top = frame;
  mine.thread = machine::thread_id();
  mine.at = debugged_rank::stage::begun;
}

void debug_table::end(const rank_state& r) noexcept {
  ranks_[static_cast<std::size_t>(r.local)].at = debugged_rank::stage::ended;
}

}  // namespace shoal::rank
