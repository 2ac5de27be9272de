// SPDX-License-Identifier: Apache-2.0
#include "shoal/detail/line_cache.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "array/node_memory.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/detail/command.hpp"
#include "shoal/detail/tsan_ignore.hpp"
#include "shoal/detail/worker.hpp"

namespace shoal::detail {
namespace {

constexpr std::uint64_t k_most_fetches = 4096;
constexpr std::uint64_t k_empty = ~std::uint64_t{0};
constexpr std::size_t k_line_alignment = 64;

}  // namespace

declared_read_only::declared_read_only(const array_layout& layout) noexcept
    : slot_(layout.slot), exists_(layout.size > 0) {
  if (exists_) this_port().context->memory->arrays().add_reader(slot_);
}
declared_read_only::~declared_read_only() {
  if (exists_) this_port().context->memory->arrays().remove_reader(slot_);
}

// Who wants an element of a line that is on its way.
struct line_cache::waiter {
  void* target = nullptr;
  std::uint32_t element = 0;
  std::uint32_t bytes = 0;
  suspended* task = nullptr;  // nullptr: of begin()
  waiter* next = nullptr;
};

struct line_cache::fetch : reply_receiver {
  line_cache* of = nullptr;
  std::uint64_t slot = 0;
  waiter* first = nullptr;
  fetch* next = nullptr;  // of the free ones
};

line_cache::line_cache(std::uint64_t lines, std::uint32_t line_bytes) : line_bytes_(line_bytes) {
  const std::uint64_t sets = std::bit_floor(std::max<std::uint64_t>(lines / k_ways, 2));
  lines = k_ways * sets;
  set_shift_ = 64 - static_cast<unsigned>(std::countr_zero(sets));
  tags_ = std::make_unique<std::uint64_t[]>(lines);
  std::fill_n(tags_.get(), lines, k_empty);
  memory_ = std::make_unique<std::byte[]>(lines * line_bytes + k_line_alignment);
  const std::uint64_t behind = reinterpret_cast<std::uintptr_t>(memory_.get()) % k_line_alignment;
  lines_ = memory_.get() + (k_line_alignment - behind);
  fetch_of_ = std::make_unique<std::uint16_t[]>(lines);
  const std::uint64_t fetches = std::min(lines, k_most_fetches);
  fetches_ = std::make_unique<fetch[]>(fetches);
  waiters_ = std::make_unique<waiter[]>(fetches);
  for (std::uint64_t k = fetches; k-- > 0;) {
    fetches_[k].arrived = arrived;
    fetches_[k].of = this;
    fetches_[k].next = std::exchange(free_fetches_, &fetches_[k]);
    waiters_[k].next = std::exchange(free_waiters_, &waiters_[k]);
  }
}

line_cache::~line_cache() {
  SHOAL_ASSERT(on_their_way_ == 0, "a read_cache is destroyed while reads through it are in flight");
}

// A line that is not on its way, and was not read since this looked at it last; k_none: all are on their way.
std::uint64_t line_cache::replaced(std::uint64_t first) noexcept {
  std::uint64_t* const tags = tags_.get() + first;
  for (std::uint64_t way = 0; way < k_ways; ++way)
    if (tags[way] == k_empty) return first + way;
  for (std::uint64_t looks = 0; looks < 2 * k_ways; ++looks) {
    std::uint64_t& tag = tags[++hand_ % k_ways];
    if ((tag & k_on_its_way) != 0) continue;
    if ((tag & k_read_lately) == 0) return first + hand_ % k_ways;
    tag &= ~k_read_lately;
  }
  return k_none;
}

line_cache::state line_cache::expect(const wanted& w, void* target, suspended* task, waiter* own) {
  const bool single = w.code != 0 && w.bytes == w.element_bytes;
  port& p = this_port();
  // First the room: while this waits for it, others use the cache.
  stream& s = room_for(p, w.at.node, 2);
  if (const std::byte* const line = find(w.line); line != nullptr) {
    std::memcpy(target, line + w.element, w.element_bytes);
    return state::here;
  }
  const std::uint64_t first = k_ways * set_of(w.line);
  const std::uint64_t* const same =
      std::find(tags_.get() + first, tags_.get() + first + k_ways, w.line << 2 | k_on_its_way);
  auto slot = static_cast<std::uint64_t>(same - tags_.get());
  const bool joins = slot < first + k_ways;
  if (!joins) slot = replaced(first);
  waiter* const me = own != nullptr ? own : free_waiters_;
  if (me == nullptr || slot == k_none || (!joins && free_fetches_ == nullptr)) {
    ++counts_.bypassed;
    return state::refused;
  }
  if (joins) {
    ++counts_.merged;
  } else {
    reply_list& replies = p.peers[w.at.node].replies;
    replies.reserve(1);  // may throw: nothing has changed
    ++counts_.misses;
    ++on_their_way_;
    fetch& f = *std::exchange(free_fetches_, free_fetches_->next);
    f.slot = slot;
    f.first = nullptr;
    f.words = words_for(w.bytes);
    fetch_of_[slot] = static_cast<std::uint16_t>(&f - fetches_.get());
    tags_[slot] = w.line << 2 | k_on_its_way;
    if (single) {
      *s.cursor++ = header(w.code, 0, w.at.offset);
    } else {
      s.cursor[0] = header(static_cast<std::uint8_t>(other_operation::bulk_get), w.unit, w.at.offset);
      s.cursor[1] = w.bytes;
      s.cursor += 2;
    }
    replies.push(reply_kind::called, static_cast<reply_receiver*>(&f));
  }
  if (own == nullptr) free_waiters_ = me->next;
  fetch& f = fetches_[fetch_of_[slot]];
  *me = {target, w.element, w.element_bytes, task, std::exchange(f.first, me)};
  return state::expected;
}

void line_cache::arrived(reply_receiver& self, const std::uint64_t* words) noexcept {
  const tsan_ignore_scope ignore;
  fetch& f = static_cast<fetch&>(self);
  line_cache& c = *f.of;
  std::byte* const line = c.lines_ + f.slot * c.line_bytes_;
  std::memcpy(line, words, std::min<std::uint64_t>(f.words * sizeof(std::uint64_t), c.line_bytes_));
  c.tags_[f.slot] &= ~k_on_its_way;
  for (waiter* w = f.first; w != nullptr;) {
    waiter* const next = w->next;
    std::memcpy(w->target, line + w->element, w->bytes);
    if (w->task != nullptr)
      wake(w->task);
    else
      w->next = std::exchange(c.free_waiters_, w);
    w = next;
  }
  f.next = std::exchange(c.free_fetches_, &f);
  --c.on_their_way_;
}

bool line_cache::read(const wanted& w, void* target) {
  waiter me;
  switch (expect(w, target, this_task(), &me)) {
    case state::here: return true;
    case state::refused: return false;
    case state::expected: break;
  }
  port& p = this_port();
  if (!p.peers[w.at.node].awaited) await_buffer(p, w.at.node);
  leave(wait_kind::reply, numbered(w.at.node));
  return true;
}

bool line_cache::begin(const wanted& w, void* target) {
  ++this_port().async_issued;
  return expect(w, target, nullptr, nullptr) != state::refused;
}

}  // namespace shoal::detail
