// SPDX-License-Identifier: Apache-2.0
#include "remote/replies.hpp"

#include <cstring>

#include "shoal/detail/assert.hpp"
#include "shoal/detail/strided_copy.hpp"

namespace shoal::remote {

using detail::reply_kind;
using detail::reply_list;

namespace {
constexpr const char* k_more_than_asked =
    "another node has replied what was not asked for: the nodes disagree about the format";

// Not inlined: the loop over single values keeps its registers.
[[gnu::noinline]] const std::uint64_t* take_runs(reply_list& list, std::uint64_t entry, const std::uint64_t* at,
                                                 const std::uint64_t* end) noexcept {
  const std::uint64_t bytes = list.pop();
  const std::uint64_t run = list.pop();
  const std::uint64_t stride_bytes = list.pop();
  SHOAL_ASSERT(detail::words_for(bytes) <= static_cast<std::uint64_t>(end - at), k_more_than_asked);
  detail::scatter_runs(reply_list::target_of<void>(entry), at, bytes, {run & ~std::uint32_t{0}, stride_bytes},
                       static_cast<unsigned>(run >> 32));
  return at + detail::words_for(bytes);
}

}  // namespace

// A task's reply goes into its entry in the queue of those ready; the places of others, some entries on, are prefetched.
bool take_replies(sched::worker& w, reply_list& list, reply_source& from, trace::event_ring* events) noexcept {
  constexpr std::uint64_t k_ahead = 8;
  bool any = false;
  for (;;) {
    const auto buffer = from.channel->front();
    if (buffer.empty()) return any;
    any = true;
    const std::uint64_t* at = buffer.data();
    const std::uint64_t* const end = buffer.data() + buffer.size();
    while ((at = list.take_values(at, end)) < end) {
      SHOAL_ASSERT(!list.empty(), k_more_than_asked);
      const std::uint64_t entry = list.pop();
      const std::uint64_t soon = list.peek(k_ahead);
      if (reply_list::kind_of(soon) != reply_kind::task) __builtin_prefetch(reply_list::target_of<void>(soon), 1);
      switch (reply_list::kind_of(entry)) {
        case reply_kind::task: w.make_ready_here(*reply_list::target_of<fiber::fiber>(entry), *at++); break;
        case reply_kind::bulk: {
          const std::uint64_t bytes = list.pop();
          SHOAL_ASSERT(detail::words_for(bytes) <= static_cast<std::uint64_t>(end - at), k_more_than_asked);
          std::memcpy(reply_list::target_of<void>(entry), at, bytes);
          at += detail::words_for(bytes);
          break;
        }
        case reply_kind::runs: at = take_runs(list, entry, at, end); break;
        case reply_kind::called: {
          auto& receiver = *reply_list::target_of<detail::reply_receiver>(entry);
          SHOAL_ASSERT(receiver.words <= static_cast<std::uint64_t>(end - at), k_more_than_asked);
          const std::uint64_t* const words = at;
          at += receiver.words;
          receiver.arrived(receiver, words);  // it may be gone then
          break;
        }
        default: break;  // take_values() has taken these
      }
    }
    if (events != nullptr) [[unlikely]]
      events->add(trace::event_kind::reply_receive, 0, from.node, trace::message_value(buffer.size() * 8, from.taken));
    ++from.taken;
    from.channel->release();
  }
}

}  // namespace shoal::remote
